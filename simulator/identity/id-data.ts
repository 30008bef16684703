/**
 * The `id_data` of each device when the plan overrides it: from a template filled in for each
 * device, or from a row of a CSV file. Errors are thrown before the run starts, also when two
 * devices would have the same `id_data`.
 * Spec: AuthRequest
 */
import { readFile, stat } from 'node:fs/promises';
import { firstCharacters } from '../../fixtures/base/characters.ts';
import { plainFile } from '../../fixtures/base/plain-file.ts';
import { readIdRows } from './id-rows.ts';
import { readIdTemplate } from './id-template.ts';
import { type IdData, type IdDataOf, identityKey } from './identity.ts';
import { IdentityError, reasonOf } from './identity-error.ts';

/**
 * The options of a plan about `id_data`. Without either, the `id_data` contains the identity data.
 */
export interface IdDataPlan {
  /** A JSON object whose strings contain placeholders such as `{index}` and `{mac}`. */
  readonly template?: string | undefined;
  /**
   * A CSV file whose first row contains member names and whose other rows contain one device each.
   */
  readonly csvFile?: string | undefined;
}

/** Largest accepted CSV file in bytes; a million rows need far less. */
const FILE_MAX_BYTES = 256 * 2 ** 20;

/**
 * Returns a function that gives each device its `id_data`; undefined when the plan does not
 * override it.
 * @param devices number of devices
 * @throws IdentityError when the template or the file is wrong, or has too few rows
 */
export async function idDataSource(
  plan: IdDataPlan,
  devices: number,
): Promise<IdDataOf | undefined> {
  const { template, csvFile } = plan;
  if (template !== undefined && csvFile !== undefined) {
    throw new IdentityError('id_data can come from a template or from a CSV file, not from both.');
  }
  if (template !== undefined) return readIdTemplate(template);
  if (csvFile === undefined) return undefined;
  return readIdRows(await textOf(csvFile), { file: csvFile, devices });
}

/**
 * Checks that no two devices have the same `id_data`.
 * @throws IdentityError that names the first two devices with the same `id_data`
 */
export function requireDistinct(idData: Iterable<IdData>): void {
  const indexByIdentity = new Map<string, number>();
  let index = 0;
  for (const each of idData) {
    const key = identityKey(each);
    const first = indexByIdentity.get(key);
    if (first !== undefined) {
      const text = firstCharacters(JSON.stringify(each), 200);
      throw new IdentityError(
        `devices ${first} and ${index} would both have the id_data ${text}; ` +
          'put {index}, {mac} or {serial} into the template of id_data.',
      );
    }
    indexByIdentity.set(key, index++);
  }
}

async function textOf(file: string): Promise<string> {
  try {
    const { size } = await stat(plainFile(file));
    if (size > FILE_MAX_BYTES) throw new Error(`it is larger than ${FILE_MAX_BYTES} bytes`);
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new IdentityError(`cannot read the id_data of ${file}: ${reasonOf(error)}.`);
  }
}
