/**
 * The script of the generated page, put together from its parts. It is text and not code of this
 * program: it runs in a browser, unbuilt, and must be the same bytes wherever a world is compiled.
 */
import { scriptForms } from './script-forms.ts';
import { scriptLogic } from './script-logic.ts';
import { scriptShow } from './script-show.ts';
import { scriptView } from './script-view.ts';

export const pageScript = `"use strict";\n${scriptLogic}${scriptShow}${scriptForms}${scriptView}`;
