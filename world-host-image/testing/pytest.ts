/**
 * Finds pytest. In the image, pytest is installed with Python; elsewhere, the host's Python must be able to import it.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const probe = `
import os
try:
    import pytest, _pytest, pluggy, iniconfig, packaging
except ImportError:
    print("[]")
else:
    import json
    modules = (pytest, _pytest, pluggy, iniconfig, packaging)
    print(json.dumps(sorted({os.path.dirname(os.path.dirname(os.path.realpath(m.__file__))) for m in modules})))
`;

const found = new Map<string, Promise<string[]>>();

/**
 * Returns the folders from which a Python imports pytest and its dependencies; an empty list if pytest is not
 * installed.
 */
export const findPytest = (python: string): Promise<string[]> => {
  const known = found.get(python);
  if (known !== undefined) return known;
  const finding = promisify(execFile)(python, ['-B', '-c', probe], { timeout: 15_000 }).then(
    ({ stdout }) => JSON.parse(stdout) as string[],
  );
  found.set(python, finding);
  finding.catch(() => found.delete(python)); // the next run tries again
  return finding;
};

export const howToGetPytest =
  'the tests in Python need pytest, which the Python of this host does not have: "pip install pytest" for the python3 in its PATH, or run hosts in containers, whose image has it';
