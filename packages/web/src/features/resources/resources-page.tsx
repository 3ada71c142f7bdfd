import { useWords } from "../../shared/i18n/use-words.ts";
import { usePageTitle } from "../../shared/ui/page-title.ts";
import { QueuesPanel } from "./queues-panel.tsx";
import { ResourcesPanel } from "./resources-panel.tsx";
import { RulesPanel } from "./rules-panel.tsx";

export function ResourcesPage() {
  const words = useWords();
  usePageTitle(words("nav.resources"));
  return (
    <div className="grid min-w-0 gap-4">
      <h1>{words("resources.title")}</h1>
      <QueuesPanel />
      <ResourcesPanel />
      <RulesPanel />
    </div>
  );
}
