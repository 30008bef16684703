/** `fleetbed doctor signature`: runs the server's signature doctor on files. */
import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { plainFile } from '../../../fixtures/base/plain-file.ts';
import { limits } from '../../../fixtures/contract/limits.ts';
import { type NamedDeviceKey, OTHER_KEYS_MAX } from '../../../server/crypto/refused-signature.ts';
import {
  type DoctorFinding,
  examine,
  keysOf,
  memberText,
} from '../../../server/explain/doctor/finding.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import * as values from '../../options/option-values.ts';
import { jsonOption } from '../../options/shared-options.ts';
import { CommandError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { fileError } from '../../output/files.ts';
import { createOutput, type Output } from '../../output/output.ts';

interface SignatureOptions {
  readonly body: string;
  readonly key?: string;
  readonly signature: string;
  readonly otherKey?: readonly string[];
  readonly json?: boolean;
}

const codes = exitCodeHelp({
  pass: 'the signature matches',
  failed: 'it does not match, or the key cannot be used',
  setUp: 'a file cannot be read',
});

const help = `
JSON is {fits, about: "signature"|"key", sentence} and, where it does not match,
  {cause, remedy, detail?, also?: [cause]}.
${codes}`;

/** Adds the options and the action of `fleetbed doctor signature`. */
export function configure(command: Command): void {
  command
    .requiredOption(
      '--body <file>',
      'file with the request body, byte for byte as sent',
      values.nonEmptyText,
    )
    .requiredOption(
      '--signature <text|file>',
      'value of the signature header, or a file that has it as text or as bytes',
      values.nonEmptyText,
    )
    .option(
      '--key <file>',
      'PEM file with the public key (default: pubkey in the body)',
      values.nonEmptyText,
    )
    .option(
      '--other-key <file>',
      'PEM file with the public key of another device that may have signed; repeatable',
      (file: string, previous: readonly string[] = []) => [...previous, values.nonEmptyText(file)],
    )
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (options: SignatureOptions) => {
      process.exitCode = await examineFiles(options);
    });
  addExamples(
    command,
    'fleetbed doctor signature --body request.json --signature MEUCIQ==',
    'fleetbed doctor signature --body request.json --signature signature.bin',
    'fleetbed doctor signature --body request.json --signature MEUCIQ== --key device.pem --json',
  );
}

async function examineFiles(options: SignatureOptions): Promise<ExitCode> {
  const body = await readBody(options.body);
  const keyText = options.key === undefined ? undefined : await readKeyFile('--key', options.key);
  if (keyText === undefined && memberText(body, 'pubkey') === undefined) {
    throw new CommandError(
      `--body ${options.body} has no string "pubkey"; give the key with --key FILE.`,
      exitCodes.usage,
    );
  }
  const otherKeys = await readOtherKeys(options.otherKey ?? []);
  const signature = (await signatureInFile(options.signature)) ?? options.signature;
  const finding = examine({ body, keyText, signature, otherKeys });
  printFinding(finding, createOutput(options.json ?? false));
  return finding.fits ? exitCodes.pass : exitCodes.failed;
}

function printFinding(finding: DoctorFinding, output: Output): void {
  output.data(finding);
  if (output.json) return;
  const { cause, sentence, detail, remedy, also = [] } = finding;
  output.line(cause === undefined ? sentence : `${cause}: ${sentence}`);
  if (detail !== undefined) output.line(`  detail: ${detail}`);
  if (remedy !== undefined) output.line(`  remedy: ${remedy}`);
  if (also.length > 0) output.line(`  also: ${also.join(', ')}`);
}

async function readBody(path: string): Promise<Buffer> {
  const problem = `--body cannot read ${path}`;
  try {
    const { size } = await stat(plainFile(path));
    if (size <= limits.bodyMaxBytes) return await readFile(path);
  } catch (error) {
    throw fileError(problem, error);
  }
  throw new CommandError(
    `${problem}: it is larger than a request body may be (${limits.bodyMaxBytes} bytes); choose another file.`,
    exitCodes.setUp,
  );
}

/**
 * Returns the text of a signature header in a file, with the bytes decoded as they would be in a
 * header; undefined for no file.
 */
async function signatureInFile(path: string): Promise<string | undefined> {
  const file = await stat(path).catch(() => undefined);
  if (!file?.isFile()) return undefined;
  if (file.size > KEY_FILE_MAX_BYTES) {
    throw new CommandError(
      `--signature ${path} is not a signature: it is too large.`,
      exitCodes.setUp,
    );
  }
  const bytes = await readFile(plainFile(path)).catch((error: unknown) => {
    throw fileError(`--signature cannot read ${path}`, error);
  });
  const text = bytes.toString('latin1');
  return /^[\x20-\x7e\s]*$/.test(text) ? text.trim() : bytes.toString('base64');
}

/** Limit on the bytes read from a key file; far above the size of any key. */
const KEY_FILE_MAX_BYTES = 1_048_576;

async function readKeyFile(option: string, path: string): Promise<string> {
  try {
    const { size } = await stat(plainFile(path));
    if (size <= KEY_FILE_MAX_BYTES) return await readFile(path, 'utf8');
  } catch (error) {
    throw fileError(`${option} cannot read ${path}`, error);
  }
  throw new CommandError(`${option} ${path} is not a key: it is too large.`, exitCodes.setUp);
}

async function readOtherKeys(paths: readonly string[]): Promise<NamedDeviceKey[]> {
  if (paths.length >= OTHER_KEYS_MAX) {
    const sentence = `--other-key can be given at most ${OTHER_KEYS_MAX - 1} times.`;
    throw new CommandError(sentence, exitCodes.usage);
  }
  const texts = await Promise.all(paths.map((path) => readKeyFile('--other-key', path)));
  return texts.flatMap((text, index) => {
    const [firstKey] = keysOf(paths[index] ?? '', text);
    if (firstKey) return [firstKey];
    throw new CommandError(
      `--other-key ${paths[index]} is not a usable public key; give a PEM file of type "PUBLIC KEY".`,
      exitCodes.setUp,
    );
  });
}
