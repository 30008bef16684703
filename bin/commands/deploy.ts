/** `fleetbed deploy`: uploads a file and creates a deployment of it. */
import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { FormData } from 'undici';
import { NotAFile } from '../../fixtures/base/plain-file.ts';
import { printable } from '../../fixtures/base/printable.ts';
import type { Artifact } from '../../fixtures/contract/resources.ts';
import { readArtifact } from '../../fixtures/formats/mender-artifact-reader.ts';
import { ArtifactError } from '../../fixtures/formats/mender-artifact-shape.ts';
import { payloadFileName } from '../../fixtures/formats/payload-file-name.ts';
import {
  type PlainPayload,
  payloadFiles,
  payloadProblem,
} from '../../fixtures/formats/update-modules.ts';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp } from '../options/exit-code-help.ts';
import * as values from '../options/option-values.ts';
import { jsonOption } from '../options/shared-options.ts';
import { CommandError } from '../output/command-error.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { fileError } from '../output/files.ts';
import { createOutput } from '../output/output.ts';
import { ManagementApi } from '../server-access/management-api.ts';
import { namedDevices } from '../server-access/named-devices.ts';
import { addServerOptions, type ServerAccess } from '../server-access/server-options.ts';

interface DeployOptions extends ServerAccess {
  readonly device?: readonly string[];
  readonly name?: string;
  readonly artifactName?: string;
  readonly deviceType?: readonly string[];
  readonly type?: string;
  readonly destDir?: string;
  readonly json?: boolean;
}

const codes = exitCodeHelp({
  pass: 'the deployment is created',
  failed: 'the server refuses it, knows no such device, or has other content under this name',
  setUp: 'the file cannot be read, or the server cannot be reached or refuses the user',
});

const help = `
A .mender file is uploaded as it is. From any other file the server makes an artifact: this needs
--device-type, and --dest-dir for the update modules single-file and directory. directory
takes a tar archive. An artifact of the same name and content is not uploaded again.

JSON is one line: {deploymentId, artifactName, uploaded, devices}; devices is a list of IDs or "all".
${codes}`;

/** Adds the options and the action of `fleetbed deploy`. */
export function configure(command: Command): void {
  addServerOptions(command)
    .argument('<file>', '.mender artifact, or any other file', values.nonEmptyText)
    .option(
      '--device <device>',
      'ID, or a value of the identity; repeatable (default: all accepted devices)',
      values.appendText,
    )
    .option(
      '--name <name>',
      'name of the deployment (default: name of the artifact)',
      values.nonEmptyText,
    )
    .option(
      '--artifact-name <name>',
      'name of the artifact made from a plain file (default: name of the file)',
      values.nonEmptyText,
    )
    .option(
      '--device-type <type>',
      'device type that the plain file is for; repeatable',
      values.appendText,
    )
    .option(
      '--dest-dir <path>',
      'directory on the device that a plain file goes to',
      values.nonEmptyText,
    )
    .option(
      '--type <module>',
      'update module that installs a plain file (default: single-file); script needs no --dest-dir',
      values.nonEmptyText,
    )
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (file: string, options: DeployOptions) => {
      process.exitCode = await deploy(file, options);
    });
  addExamples(
    command,
    'fleetbed deploy release-2.mender',
    'fleetbed deploy app.bin --device-type board --dest-dir /opt/app --artifact-name app-2',
    'fleetbed deploy upgrade.sh --device-type board --type script',
    'fleetbed deploy release-2.mender --device 02:00:00:00:00:01 --name canary',
  );
}

/** An artifact that is read from a file, or that the server generates from a plain file. */
interface ReleaseToDeploy {
  readonly name: string;
  /** Name of the update module of each payload. */
  readonly types: readonly (string | null)[];
  /** SHA-256 digests of the payload files, in hex. */
  readonly checksums: readonly string[];
  /** Notices for the user about the artifact. */
  readonly notices: readonly string[];
  /** Uploads the artifact, or has the server generate it. */
  upload(api: ManagementApi): Promise<unknown>;
}

async function deploy(file: string, options: DeployOptions): Promise<ExitCode> {
  const release = await releaseIn(file, options);
  const api = await ManagementApi.open(options);
  const { device: names } = options;
  const devices = names && namedDevices(await api.devices(), names).map(({ id }) => id);
  const isNew = await isToUpload(api, release);
  const output = createOutput(options.json ?? false);
  if (isNew) {
    await release.upload(api);
    for (const notice of release.notices) output.progress(printable(notice));
  }
  const { headers } = await api.call('create-deployment', {
    json: {
      name: options.name ?? release.name,
      artifact_name: release.name,
      ...(devices ? { devices } : { all_devices: true }),
    },
  });
  const deploymentId = headers.get('location')?.replace(/^.*\//, '') ?? '';
  const artifactName = release.name;
  output.data({ deploymentId, artifactName, uploaded: isNew, devices: devices ?? 'all' });
  if (!isNew) output.progress(`${printable(artifactName)} is already on the server.`);
  if (!output.json) output.line(printable(deploymentId));
  return exitCodes.pass;
}

/**
 * Returns false when the server already has this artifact.
 * @throws CommandError when the server has an artifact of this name with other content
 */
async function isToUpload(api: ManagementApi, release: ReleaseToDeploy): Promise<boolean> {
  const { name } = release;
  const { body: storedArtifacts } = await api.call('list-all-artifacts', { query: { name } });
  if (storedArtifacts.length === 0) return true;
  if (storedArtifacts.some((artifact) => hasContentOf(artifact, release))) return false;
  throw new CommandError(
    `the server already has an artifact ${printable(name)} with other content; choose another name.`,
    exitCodes.failed,
  );
}

/**
 * Compares the content of an artifact on the server with the release. The destination path is
 * compared too, because it is stored in a small payload file.
 */
function hasContentOf({ updates = [] }: Artifact, { types, checksums }: ReleaseToDeploy): boolean {
  const sums = updates.flatMap(({ files = [] }) => files.map(({ checksum }) => checksum));
  const modules = updates.map((update) => update.type_info?.type ?? null);
  return isSameSet(sums, checksums) && isSameSet(modules, types);
}

function isSameSet(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && others.every((one) => some.includes(one));
}

async function releaseIn(file: string, options: DeployOptions): Promise<ReleaseToDeploy> {
  try {
    const stats = await stat(file);
    // The file is read several times, which a pipe does not allow.
    if (!stats.isFile()) throw new NotAFile(file, stats);
    if (!(await isArtifact(file))) return await plainRelease(file, options);
  } catch (error) {
    throw error instanceof CommandError ? error : fileError(`deploy cannot read ${file}`, error);
  }
  const { artifactName, deviceType, type, destDir } = options;
  if ([artifactName, deviceType, type, destDir].some((option) => option !== undefined)) {
    throw new CommandError(
      `${file} is an artifact, which states all of this itself; leave out --artifact-name, --device-type, --type and --dest-dir.`,
      exitCodes.usage,
    );
  }
  return artifactRelease(file);
}

async function artifactRelease(file: string): Promise<ReleaseToDeploy> {
  const { name, payloads } = await readArtifact(createReadStream(file)).catch((error: unknown) => {
    if (!(error instanceof ArtifactError)) throw error;
    throw new CommandError(
      `${file} is not a valid artifact: ${error.message}`,
      exitCodes.setUp,
      error,
    );
  });
  return {
    name,
    types: payloads.map(({ type }) => type),
    checksums: payloads.flatMap(({ files }) => files.map(({ checksum }) => checksum)),
    notices: payloads.flatMap(({ unread }) =>
      unread ? [`${name} is stored without reading ${unread.message}.`] : [],
    ),
    upload: async (api) => {
      const form = new FormData();
      form.append('artifact', await openAsBlob(file), basename(file));
      return api.call('upload-artifact', { form });
    },
  };
}

async function plainRelease(file: string, options: DeployOptions): Promise<ReleaseToDeploy> {
  const { deviceType: deviceTypes = [], type = 'single-file', destDir } = options;
  const { artifactName: name = basename(file) } = options;
  if (deviceTypes.length === 0) {
    throw new CommandError(
      `${file} is not an artifact; give --device-type, so that the server can make one from it.`,
      exitCodes.usage,
    );
  }
  const payload = { type, fileName: payloadFileName(basename(file)), destDir };
  refuseUninstallable(file, payload);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  const lines = payloadFiles(payload).lines.map(({ text }) =>
    createHash('sha256').update(text).digest('hex'),
  );
  return {
    name,
    types: [type],
    checksums: [...lines, hash.digest('hex')],
    notices: [],
    upload: async (api) => {
      const form = new FormData();
      form.append('name', name);
      form.append('device_types_compatible', deviceTypes.join(','));
      form.append('type', type);
      if (destDir !== undefined) form.append('args', JSON.stringify({ dest_dir: destDir }));
      form.append('file', await openAsBlob(file), basename(file));
      return api.call('generate-artifact', { form });
    },
  };
}

function refuseUninstallable(file: string, payload: PlainPayload): void {
  const problem = payloadProblem(payload);
  if (!problem) return;
  const { member, expected, actual } = problem;
  const optionText = { type: '--type', dest_dir: '--dest-dir', filename: `the name of ${file}` }[
    member
  ];
  const sentence =
    actual === undefined
      ? `${file} is not an artifact; give ${optionText}, ${expected}, or another --type such as script.`
      : `${optionText} must be ${expected}, not ${printable(actual)}.`;
  throw new CommandError(sentence, exitCodes.usage);
}

/**
 * Returns true for a file that ends in `.mender`, and for a tar archive that starts with the entry
 * `version`.
 */
async function isArtifact(file: string): Promise<boolean> {
  if (file.endsWith('.mender')) return true;
  const handle = await open(file);
  try {
    const head = Buffer.alloc(TAR_HEADER_BYTES);
    await handle.read(head, 0, TAR_HEADER_BYTES, 0);
    const magic = head.toString('latin1', TAR_MAGIC_AT, TAR_MAGIC_AT + 5);
    return magic === 'ustar' && head.toString('latin1', 0, 8) === 'version\0';
  } finally {
    await handle.close();
  }
}

const TAR_HEADER_BYTES = 512;
const TAR_MAGIC_AT = 257;
