/**
 * Downloads an artifact as the cohort's `download` option says. `full`: the whole file, verified as
 * a stream (every size and SHA-256 against its manifest, its name and device types against the
 * instructions). `head`: only the first bytes and the length. `none`: nothing. The file is never in
 * memory as a whole.
 * Spec: ArtifactLink
 */
import { limits } from '../../fixtures/contract/limits.ts';
import type { DeploymentInstructionsV2 } from '../../fixtures/contract/resources.ts';
import { type ArtifactContents, ArtifactError } from '../../fixtures/formats/mender-artifact.ts';
import { providesAfterInstall } from '../../fixtures/formats/mender-artifact-provides.ts';
import { WHOLE_FILE } from '../../fixtures/formats/mender-artifact-shape.ts';
import { type DownloadRequest, downloadedBytes, downloadedHead } from '../api-client/download.ts';
import { exchangerOf } from '../api-client/session.ts';
import { UpdateFailure } from '../behaviours/behaviour.ts';
import { ClientError, DownloadError, PowerLoss } from '../network/errors.ts';
import { ArtifactIntake, keepIntake, takeKeptIntake } from './artifact-intake.ts';
import type { DownloadedArtifact } from './device.ts';
import type { DeviceInRun } from './environment.ts';
import type { DuringUpdateContext } from './hook-contexts.ts';
import { waitAfterMs } from './retries.ts';
import type { UpdateLog } from './update-log.ts';

/** The instructions for a download, the log of the update and the context of its hooks. */
export interface FetchContext {
  readonly instructions: DeploymentInstructionsV2;
  readonly log: UpdateLog;
  readonly context: DuringUpdateContext;
}

/**
 * Downloads and verifies the artifact as far as the cohort's `download` option requires, and
 * returns its contents.
 * @throws UpdateFailure when it is unavailable or must not be installed; PowerLoss; FleetStopped
 */
export async function fetchArtifact(
  subject: DeviceInRun,
  fetching: FetchContext,
): Promise<DownloadedArtifact> {
  const { artifact } = fetching.instructions;
  const deviceType = subject.device.provides.device_type;
  if (!artifact.device_types_compatible.includes(deviceType)) {
    throw new UpdateFailure(`${artifact.artifact_name} was offered, but not for ${deviceType}`);
  }
  return fetchers[subject.device.cohort.policy.download](subject, fetching);
}

type Fetcher = (subject: DeviceInRun, fetching: FetchContext) => Promise<DownloadedArtifact>;

const fetchers: Readonly<Record<'full' | 'head' | 'none', Fetcher>> = {
  full: async (subject, fetching) => {
    const { artifact_name: offered } = fetching.instructions.artifact;
    const { device_type } = subject.device.provides;
    const contents = await checkedDownload(subject, fetching);
    if (contents.name !== offered) {
      throw new UpdateFailure(`${offered} was offered, but the file holds ${contents.name}`);
    }
    if (!contents.deviceTypesCompatible.includes(device_type)) {
      throw new UpdateFailure(`the file is not compatible with ${device_type}`);
    }
    fetching.log.add('info', `downloaded ${contents.name}, ${contents.sizeBytes} bytes`);
    const provides = providesAfterInstall(subject.device.provides, contents);
    return {
      provides: { ...provides, device_type, artifact_name: contents.name },
      settings: configurationIn(contents),
    };
  },
  head: async (subject, fetching) => {
    const totalBytes = await countDownload(subject, () => checkedSize(subject, fetching));
    const { log, instructions } = fetching;
    const message = 'only the first bytes were fetched, and the length checked';
    log.add('info', `${instructions.artifact.artifact_name}, ${totalBytes} bytes: ${message}`);
    return contentsByName(subject, fetching);
  },
  none: async (subject, fetching) => {
    const { log, instructions } = fetching;
    log.add('info', `${instructions.artifact.artifact_name} was not fetched, as configured`);
    return contentsByName(subject, fetching);
  },
};

async function checkedSize(subject: DeviceInRun, fetching: FetchContext): Promise<number> {
  const { first, totalBytes } = await downloadedHead(downloadOf(subject, fetching));
  if (first.toString('latin1', TAR_MAGIC_AT, TAR_MAGIC_AT + TAR_MAGIC.length) !== TAR_MAGIC) {
    throw new ArtifactError('tar', WHOLE_FILE, 'it does not begin like a tar archive');
  }
  return totalBytes;
}

const TAR_MAGIC = 'ustar';
const TAR_MAGIC_AT = 257;

/** Returns the result for an artifact that was not opened: only its name is known. */
function contentsByName(
  { device }: DeviceInRun,
  { instructions }: FetchContext,
): DownloadedArtifact {
  const { artifact_name } = instructions.artifact;
  return { provides: { ...device.provides, artifact_name }, settings: undefined };
}

/** Number of times that a download restarts because the file changed on the server. */
const RESTARTS_MAX = 2;

async function checkedDownload(
  subject: DeviceInRun,
  fetching: FetchContext,
): Promise<ArtifactContents> {
  return countDownload(subject, async () => {
    for (let restarts = 0; ; restarts++) {
      try {
        return readable(await takenIn(subject, fetching));
      } catch (error) {
        const isChanged = error instanceof DownloadError && error.problem === 'changed';
        if (!isChanged || restarts === RESTARTS_MAX) throw error;
        subject.environment.metrics.countError(error);
        subject.environment.downloads?.forget(subject.device);
      }
    }
  });
}

/** Returns the contents. @throws ArtifactError for a payload that was not read */
function readable(contents: ArtifactContents): ArtifactContents {
  for (const { unread } of contents.payloads) if (unread) throw unread;
  return contents;
}

/**
 * Downloads and verifies the file. Continues after the bytes received before a power loss or before
 * the end of an earlier run.
 */
async function takenIn(subject: DeviceInRun, fetching: FetchContext): Promise<ArtifactContents> {
  const { deployment } = fetching.context;
  const { device, environment } = subject;
  const partialDownload = environment.downloads?.open(device, deployment);
  const intake = takeKeptIntake(deployment) ?? (await ArtifactIntake.resume(partialDownload));
  const { receivedBytes } = intake.progress;
  if (receivedBytes > 0) fetching.log.add('info', `${receivedBytes} bytes were downloaded before`);
  fetching.context.fromByte = receivedBytes;
  const download = downloadOf(subject, fetching);
  try {
    const chunks = downloadedBytes(download, intake.progress);
    return await intake.takeIn(receiveChunks(subject, fetching, chunks), partialDownload);
  } catch (error) {
    if (error instanceof PowerLoss) keepIntake(deployment, intake);
    throw error;
  } finally {
    partialDownload?.close();
  }
}

/** Size of the blocks that a device writes; whole blocks of a chunk survive a power loss. */
const BLOCK_BYTES = 2048;

/** Yields the bytes of the file as the device's behaviour receives them. */
async function* receiveChunks(
  { device }: DeviceInRun,
  { context }: FetchContext,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const { whileDownloading } = device.behaviour.hooks;
  if (whileDownloading === undefined) {
    yield* chunks;
    return;
  }
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += BLOCK_BYTES) {
      const block = chunk.subarray(start, start + BLOCK_BYTES);
      yield (await whileDownloading(context, block)) ?? block;
      context.fromByte += block.length;
    }
  }
}

function downloadOf(
  { device, session, environment }: DeviceInRun,
  { instructions }: FetchContext,
): DownloadRequest {
  const { uri } = instructions.artifact.source;
  if (uri === undefined)
    throw new UpdateFailure('the instructions contain no link to the artifact');
  const { transport, clock } = environment;
  return {
    transport: exchangerOf(session, transport),
    clock,
    caller: session.caller,
    uri,
    fileMaxBytes: limits.artifactMaxBytes,
    pause: async (error, attempt) => {
      environment.metrics.countError(error);
      await environment.sleep(waitAfterMs(error, attempt, { device, environment }));
    },
  };
}

/**
 * Runs an action. Counts an error of the file or of its download, and throws it as an
 * UpdateFailure.
 */
async function countDownload<Result>(
  { environment }: DeviceInRun,
  callback: () => Promise<Result>,
): Promise<Result> {
  try {
    return await callback();
  } catch (error) {
    if (error instanceof ClientError) environment.metrics.countError(error);
    else if (error instanceof ArtifactError) {
      environment.metrics.countError({
        operation: 'download-artifact',
        label: `artifact/${error.code}`,
      });
    } else throw error;
    throw new UpdateFailure(error.message, { cause: error });
  }
}

/** Payload type of an artifact that contains a configuration instead of files. */
const CONFIGURATION_PAYLOAD = 'mender-configure';

/** Returns the pairs in a configuration artifact; undefined for software. */
function configurationIn(contents: ArtifactContents): Record<string, string> | undefined {
  const payload = contents.payloads.find(({ type }) => type === CONFIGURATION_PAYLOAD);
  if (!payload) return undefined;
  const texts = Object.entries(payload.metaData ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}
