/** What must be undone at the end, in reverse. One step that fails does not keep the others from being done. */

export interface Leaving {
  /** Call it right after what it undoes. */
  add(undo: () => void | Promise<void>): void;
  leave(): Promise<void>;
}

export function createLeaving(onProblem: (error: unknown) => void): Leaving {
  const undos: (() => void | Promise<void>)[] = [];
  return {
    add: (undo) => void undos.push(undo),
    leave: async () => {
      for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
        try {
          await undo();
        } catch (error) {
          onProblem(error);
        }
      }
    },
  };
}
