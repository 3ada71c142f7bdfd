/**
 * A process of its own: the packed Chromium unpacks itself below the folder for temporary files, which whoever starts this names.
 * Prints its arguments.
 */

import packed from "@sparticuz/chromium";

await packed.executablePath();
process.stdout.write(JSON.stringify(packed.args));
