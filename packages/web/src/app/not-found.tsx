import { Link } from "@tanstack/react-router";
import { useWords } from "../shared/i18n/use-words.ts";

export function NotFound() {
  const words = useWords();
  return (
    <div className="panel p-6">
      <h1>{words("notFound.title")}</h1>
      <p className="mt-2 mb-4 text-muted">{words("notFound.text")}</p>
      <Link to="/" className="btn">
        {words("nav.overview")}
      </Link>
    </div>
  );
}
