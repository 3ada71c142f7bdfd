/** The token is given once; the server answers with a cookie that scripts cannot read. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { change } from "../api/request.ts";
import { setLiveState } from "../live/live-state.ts";
import { useWords } from "../shared/i18n/use-words.ts";
import { problemText } from "../shared/ui/answer.tsx";

export function Login() {
  const words = useWords();
  const queries = useQueryClient();
  const [token, setToken] = useState("");
  const login = useMutation({
    mutationFn: async () => await change("POST", "session", { token }),
    onSuccess: async () => {
      setLiveState({ locked: false });
      await queries.resetQueries();
    },
  });
  return (
    <form
      className="panel mx-auto mt-8 grid max-w-md gap-3 p-6"
      onSubmit={(event) => {
        event.preventDefault();
        login.mutate();
      }}
    >
      <h1>{words("login.title")}</h1>
      <label className="grid gap-1">
        <span>{words("login.token")}</span>
        <input
          className="field"
          type="password"
          autoComplete="current-password"
          required
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
      </label>
      {login.error !== null && (
        <p role="alert" className="rounded-md bg-danger-page px-3 py-2 text-danger-text">
          {problemText(login.error, words("problem.unreachable"))}
        </p>
      )}
      <button type="submit" className="btn btn-ink justify-self-start" disabled={login.isPending}>
        {words("login.act")}
      </button>
    </form>
  );
}
