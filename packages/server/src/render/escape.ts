/** The few escape codes that are used or let through here. */

const ESC = "\u001b";

/** One colour or style, as the only group: split by it, every second part is one. */
export const COLOR: RegExp = new RegExp(`(${ESC}\\[[\\d;:]*m)`);
export const RESET: string = `${ESC}[0m`;
export const CLEAR_LINE: string = `${ESC}[2K`;
export const CLEAR_BELOW: string = `${ESC}[0J`;

/** To the beginning of the line that is so many above. */
export function linesUp(count: number): string {
  return count === 0 ? "" : `${ESC}[${count}A\r`;
}
