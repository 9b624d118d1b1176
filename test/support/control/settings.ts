/** Changes settings of a test's only project with the key of the organization, as its manager does. */
import { getProjectSettings, listProjects, updateSettings } from '#wire/public-api/operations.ts';
import type { ProjectSettingsChange } from '#wire/public-api/projects/settings.ts';
import type { TestControl } from './control.ts';

/** Returns the id of the project whose key pair the test has. */
export const projectIdOf = async (control: TestControl): Promise<string> => {
  const { body } = await control.send(listProjects, {});
  return body.data[0]?.id ?? '';
};

/** Changes settings, and returns them. */
export const setSettings = async (control: TestControl, body: ProjectSettingsChange) => {
  const params = { projectId: await projectIdOf(control) };
  return (await control.account(updateSettings, { params, body })).body;
};

/** Turns push on or off, and returns the project's resulting push settings. */
export const setPush = async (control: TestControl, isOn: boolean) => {
  const { webhookPush, webhookPushSince } = await setSettings(control, { webhookPush: isOn });
  return { webhookPush, webhookPushSince };
};

/** Returns the push settings as the project's own key pair sees them. */
export const readPush = async (control: TestControl) => {
  const { webhookPush, webhookPushSince } = (await control.send(getProjectSettings, {})).body;
  return { webhookPush, webhookPushSince };
};
