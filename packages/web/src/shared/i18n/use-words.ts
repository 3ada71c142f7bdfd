import { useLingui } from "@lingui/react";
import type enUs from "./messages/en-US.json";

export type MessageId = keyof typeof enUs;
type MessageValues = Readonly<Record<string, string | number>>;

export interface Words {
  (id: MessageId, values?: MessageValues): string;
  readonly locale: string;
}

/** The words of the reader's language. An id that is not in the catalogue does not compile. */
export function useWords(): Words {
  const { i18n } = useLingui();
  const say = (id: MessageId, values?: MessageValues): string => i18n._(id, values);
  return Object.assign(say, { locale: i18n.locale });
}
