/** What the page was rendered with: its data, what it is of, and its script. */

/** Which session, tasks or world a dashboard is of; what it is not of is null. */
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
