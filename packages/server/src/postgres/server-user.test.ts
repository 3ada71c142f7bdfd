import { describe, expect, it } from "vitest";
import { type PasswdEntry, parsePasswd, pickServerUser } from "./server-user.ts";

const root: PasswdEntry = { name: "root", uid: 0, gid: 0 };
const postgres: PasswdEntry = { name: "postgres", uid: 101, gid: 104 };
const nobody: PasswdEntry = { name: "nobody", uid: 65534, gid: 65534 };

describe("the user a root lends to the server", () => {
  it("is postgres where there is one, else nobody", () => {
    expect(pickServerUser([root, nobody, postgres], null)).toEqual(postgres);
    expect(pickServerUser([root, nobody], null)).toEqual(nobody);
  });

  it("is the owner of data that is there, with or without a name", () => {
    const alice = { name: "alice", uid: 1000, gid: 1000 };

    expect(pickServerUser([postgres, alice], { uid: 1000, gid: 1000 })).toEqual(alice);
    expect(pickServerUser([postgres], { uid: 4711, gid: 4711 })).toEqual({
      name: "4711",
      uid: 4711,
      gid: 4711,
    });
  });

  it("is never root", () => {
    expect(pickServerUser([root, { ...root, name: "postgres" }], { uid: 0, gid: 0 })).toBeNull();
  });
});

it("reads the names and numbers of /etc/passwd and skips what is no entry", () => {
  const text =
    "root:x:0:0:root:/root:/bin/bash\n\n+::::::\npostgres:x:101:104:,,,:/var/lib/postgresql:/bin/bash\n";

  expect(parsePasswd(text)).toEqual([root, postgres]);
});
