import { useQuery } from "@tanstack/react-query";
import { readPath } from "../api/request.ts";
import { setServerTime } from "../shared/time/clock.ts";

interface About {
  readonly version: string;
  readonly environmentName: string | null;
  readonly mode: string;
  readonly serverTime: string;
}

/** Says in words where one is about to press a button. An older server says nothing, and then nothing is shown. */
export function EnvironmentBadge() {
  const about = useAbout();
  const name = environmentOf(about);
  if (about === undefined || name === null) return null;
  return (
    <span
      className="max-w-[40vw] truncate rounded-md border-2 border-pending px-2 text-sm font-bold text-pending"
      title={`signalbox ${about.version}`}
    >
      {name}
    </span>
  );
}

/** Null: nobody has given it a name. */
export function useEnvironment(): string | null {
  return environmentOf(useAbout());
}

function environmentOf(about: About | undefined): string | null {
  return about?.environmentName ?? (about?.mode === "dev" ? "DEV" : null);
}

function useAbout(): About | undefined {
  const { data } = useQuery({
    queryKey: ["about"],
    queryFn: async ({ signal }) => {
      const about = (await readPath("about", signal)) as About;
      setServerTime(about.serverTime);
      return about;
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    refetchOnWindowFocus: false,
  });
  return data;
}
