/**
 * The tools of a task: those that its agent is given, of those that the world has. The control plane and
 * the world host both hold to them, and both refuse another one in these words.
 */

/** Whether a task gives a tool; null gives all. */
export const givesTool = (taskTools: readonly string[] | null, name: string): boolean =>
  taskTools === null || taskTools.includes(name);

/** How many of the task's tools a message names; the list beside it has them all. */
const mostNames = 20;

/** Why a tool of the world is not run: the task gives the agent others. */
export const withheldTool = (name: string, taskTools: readonly string[]): string => {
  const shown = taskTools.slice(0, mostNames).join(', ');
  const more = taskTools.length > mostNames ? ` and ${taskTools.length - mostNames} more` : '';
  const given = taskTools.length === 0 ? 'no tools' : `these tools: ${shown}${more}`;
  return `the task does not give the tool "${name}"; it gives ${given}`;
};
