import type { ReactNode } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";

export function WhyFrame({ tone, children }: { readonly tone: string; readonly children: ReactNode }) {
  const words = useWords();
  return (
    <section
      id="why"
      tabIndex={-1}
      aria-label={words("why.label")}
      className={`panel scroll-mt-20 border-s-4 ${tone}`}
    >
      {children}
    </section>
  );
}
