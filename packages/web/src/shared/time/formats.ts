/** Formats are made once for each language and way: to make one costs a hundred times what it costs to use it. */

type Make<Format, Options> = new (locale: string, options: Options) => Format;

function remembered<Format, Options>(
  Kind: Make<Format, Options>,
): (locale: string, options: Options) => Format {
  const made = new Map<string, Format>();
  return (locale, options) => {
    const key = `${locale} ${JSON.stringify(options)}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const format = new Kind(locale, options);
    made.set(key, format);
    return format;
  };
}

export const dateFormat: (locale: string, options: Intl.DateTimeFormatOptions) => Intl.DateTimeFormat =
  remembered(Intl.DateTimeFormat);

export const numberFormat: (locale: string, options: Intl.NumberFormatOptions) => Intl.NumberFormat =
  remembered(Intl.NumberFormat);

export const relativeFormat: (
  locale: string,
  options: Intl.RelativeTimeFormatOptions,
) => Intl.RelativeTimeFormat = remembered(Intl.RelativeTimeFormat);
