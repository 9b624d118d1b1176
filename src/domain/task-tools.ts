/**
 * Tools that a task offers its agent, out of the tools that the world has. The control plane and the world host both
 * enforce the selection, and both reject other tools with the message that is built here.
 */

/** Returns true if a task offers a tool. If the list is null, the task offers all tools. */
export const givesTool = (taskTools: readonly string[] | null, name: string): boolean =>
  taskTools === null || taskTools.includes(name);

/** Maximum number of offered tools that a message names; a list next to the message names all of them. */
const mostNames = 20;

/** Returns the message for a tool that the world has and the task does not offer. */
export const withheldTool = (name: string, taskTools: readonly string[]): string => {
  const shown = taskTools.slice(0, mostNames).join(', ');
  const more = taskTools.length > mostNames ? ` and ${taskTools.length - mostNames} more` : '';
  const given = taskTools.length === 0 ? 'no tools' : `these tools: ${shown}${more}`;
  return `the task does not offer the tool "${name}"; it offers ${given}`;
};
