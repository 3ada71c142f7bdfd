import { useEffect } from "react";

/** The title of the tab: what is shown, then the product. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · signalbox`;
  }, [title]);
}
