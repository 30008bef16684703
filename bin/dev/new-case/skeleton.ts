/** A new case of the suite: its file, and its place among the others. */
import { requirements } from '../../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../../fixtures/contract/requirements/requirement.ts';
import { nearestOf } from '../../../fixtures/nearest.ts';

/** The list of all cases, from the folder of the package. */
export const listFile = 'conformance/cases/all-cases.ts';

/** A case that cannot be added; the message says why and what is accepted. */
export class NewCaseError extends Error {
  override readonly name = 'NewCaseError';
}

/** What is to be written. */
interface NewCase {
  /** From the folder of the package. */
  readonly file: string;
  readonly text: string;
  /** The text of the list of all cases with the new one. */
  readonly list: string;
}

/**
 * The files of a new case.
 * @param id such as `monitor/alerts-keep-their-order`
 * @param requirement the id of the requirement that it tests
 * @param list the text of the list of all cases
 * @throws NewCaseError
 */
export function newCase(id: string, requirement: string, list: string): NewCase {
  const [, area = '', name = ''] = /^([a-z0-9-]+)\/([a-z0-9]+(?:-[a-z0-9]+)*)$/.exec(id) ?? [];
  if (name === '') {
    throw new NewCaseError(`${id || 'nothing'} is not AREA/NAME, such as monitor/alerts-are-kept`);
  }
  const { sentence, level } = requirementOf(requirement);
  const module = `${area}-${name}`;
  const values = `${module.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Cases`;
  if (list.includes(`'./${module}.ts'`)) throw new NewCaseError(`${id} is there already`);
  return {
    file: `conformance/cases/${module}.ts`,
    text: skeleton({ area, name, requirement, sentence, isObserved: level === 'may', values }),
    list: withCase(list, { area, module, values }),
  };
}

function requirementOf(id: string): Requirement {
  const all: ReadonlyMap<string, Requirement> = new Map(Object.entries(requirements));
  const found = all.get(id);
  if (found) return found;
  const near = nearestOf(id, [...all.keys()]).join(', ');
  throw new NewCaseError(
    `there is no requirement ${id || '(none given)'}; the nearest: ${near}. ` +
      'Add a new one to its area in fixtures/contract/requirements',
  );
}

interface Facts {
  readonly area: string;
  readonly name: string;
  readonly requirement: string;
  readonly sentence: string;
  /** The contract leaves it open. */
  readonly isObserved: boolean;
  readonly values: string;
}

function skeleton({ area, name, requirement, sentence, isObserved, values }: Facts): string {
  const act = isObserved ? 'observe' : 'run';
  return `/** Case: ${sentence} */
import { acceptedDevice } from '../context/start-states.ts';
import { defineScenario } from '../suite/case.ts';
import { NotObservable } from '../target/expectations.ts';

export const ${values} = defineScenario({
  area: '${area}',
  name: '${name}',
  start: 'an accepted device',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: '${name}',
      title: ${JSON.stringify(sentence)},
      requirements: ['${requirement}'],
      ${act}: () => Promise.reject(new NotObservable('the case is not written yet')),
    },
  ],
});
`;
}

/** After the last cases of the same area; at the end when there are none. */
function withCase(
  list: string,
  {
    area,
    module,
    values,
  }: { readonly area: string; readonly module: string; readonly values: string },
): string {
  const names = [...list.matchAll(/^import \{ (\w+) \} from '\.\/([\w-]+)\.ts';$/gm)];
  const ofArea = names.filter(([, , file = '']) => file === area || file.startsWith(`${area}-`));
  const before = ofArea
    .map(([, known]) => `  ...${known},\n`)
    .toSorted((one, other) => list.indexOf(one) - list.indexOf(other))
    .at(-1);
  const at = before === undefined ? list.lastIndexOf('];') : list.indexOf(before) + before.length;
  const added = `${list.slice(0, at)}  ...${values},\n${list.slice(at)}`;
  return added.replace(/^import \{/m, `import { ${values} } from './${module}.ts';\nimport {`);
}
