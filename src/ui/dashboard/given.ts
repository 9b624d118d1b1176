/** Input of the page: its data, its target, and its script. */

/** Session, tasks or world that a dashboard shows; the ids of other kinds are null. */
export type Target = {
  kind: 'session' | 'task' | 'environment';
  target: {
    sessionId: string | null;
    taskSetId: string | null;
    taskId: string | null;
    environmentId: string | null;
  };
};

type Given = { data: unknown; target: Target; script: string };

const read = (): Given => {
  const element = document.getElementById('dashboard-data');
  return JSON.parse(element?.textContent ?? 'null') as Given;
};

export const given = read();
