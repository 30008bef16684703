/** Creates artifacts: uploaded, or generated from a plain file. */
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { isJsonWithin } from '../../../fixtures/contract/text.ts';
import { ArtifactError } from '../../../fixtures/formats/mender-artifact.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import { defineEndpointWithOwnTransactions, type UserContext } from '../../pipeline/endpoint.ts';
import { conflictsWith } from '../../rules/artifact-conflict.ts';
import type { ReceivedFile } from '../../store/files.ts';
import { auditArtifact } from './artifacts.ts';
import { artifactStream, readGenerateForm } from './generate.ts';
import { artifactOf, readReceived } from './received-artifact.ts';
import { receiveUpload } from './upload.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const uploadArtifact = defineEndpointWithOwnTransactions(
  'upload-artifact',
  async (_input, context) => {
    const { files } = context.store;
    const form = { files, filePart: 'artifact', fileMaxBytes: limits.artifactMaxBytes };
    const upload = await receiveUpload(context, form);
    if (upload instanceof Refusal) return upload;
    const id = upload.fields.get('artifact_id');
    if (id !== undefined && !uuid.test(id)) {
      files.discard(upload.file);
      return refuse.malformed('artifact_id: must be a UUID', {
        path: 'form.artifact_id',
        expected: 'a UUID',
      });
    }
    const description = upload.fields.get('description');
    return takeArtifact(context, upload.file, { id: id?.toLowerCase(), description });
  },
);

export const generateArtifact = defineEndpointWithOwnTransactions(
  'generate-artifact',
  async (_input, context) => {
    const { files } = context.store;
    const form = { files, filePart: 'file', fileMaxBytes: limits.generatedFileMaxBytes };
    const upload = await receiveUpload(context, form);
    if (upload instanceof Refusal) return upload;
    try {
      const input = readGenerateForm(upload);
      if (input instanceof Refusal) return input;
      const file = await files.receive(artifactStream(input, upload.file, context.nowMs));
      return await takeArtifact(context, file, { description: upload.fields.get('description') });
    } catch (error) {
      if (error instanceof ArtifactError)
        return refuse.malformed(error.message, { path: 'form.file' });
      throw error;
    } finally {
      files.discard(upload.file);
    }
  },
);

/** The fields of an artifact upload other than the file. */
interface UploadFields {
  /** The ID of the artifact; a random UUID when absent. */
  readonly id?: string | undefined;
  readonly description: string | undefined;
}

/** Stores a received file as an artifact. If the artifact is refused, the file is deleted. */
async function takeArtifact(context: UserContext, file: ReceivedFile, naming: UploadFields) {
  const { store, random, nowMs, log } = context;
  try {
    const contents = await readReceived(file);
    const { id = random.uuid(), description } = naming;
    const artifact = artifactOf(contents, { id, description, nowMs });
    const refusal = refuseLarge(artifact) ?? refuseDoubled(context, artifact);
    if (refusal) {
      store.files.discard(file);
      return refusal;
    }
    store.atomically(() => {
      store.files.keep(file);
      store.artifacts.save({ artifact, sha256: file.sha256, modifiedMs: nowMs });
      auditArtifact(context, { action: 'create', wideAction: 'upload' }, artifact);
    });
    for (const { unread } of contents.payloads) {
      if (unread) log.warn(`artifact ${contents.name} is stored without reading ${unread.message}`);
    }
    const location = pathOf(managementOperations['show-artifact'], { id });
    return { status: 201, headers: { Location: location } } as const;
  } catch (error) {
    store.files.discard(file);
    if (error instanceof ArtifactError)
      return refuse.malformed(`artifact: ${error.message}`, { path: 'form.artifact' });
    throw error;
  }
}

/**
 * Refuses an artifact with a large header, because every list and every poll for its release reads
 * the header.
 */
function refuseLarge(artifact: ReturnType<typeof artifactOf>): Refusal | undefined {
  const max = limits.artifactViewMaxBytes;
  if (isJsonWithin(artifact, max)) return undefined;
  return refuse.malformed(
    `artifact: the header's data on the artifact and its updates can have at most ${max} bytes as JSON`,
    { path: 'form.artifact', expected: `a header with at most ${max} bytes of JSON` },
  );
}

function refuseDoubled(
  { store }: UserContext,
  artifact: ReturnType<typeof artifactOf>,
): Refusal | undefined {
  if (store.artifacts.find(artifact.id)) {
    return refuse.unprocessable(`an artifact with the ID ${artifact.id} already exists`, {
      path: 'form.artifact_id',
      expected: 'an unused ID, or no ID',
      actual: artifact.id,
    });
  }
  const sameName = store.artifacts.findByName(artifact.name);
  const conflictingArtifact = sameName.find((storedArtifact) =>
    conflictsWith(storedArtifact.artifact.artifact_depends, artifact.artifact_depends),
  )?.artifact;
  return (
    conflictingArtifact &&
    refuse.conflict(
      `an artifact with the name ${artifact.name} for the same device types already exists: ${conflictingArtifact.id}`,
      {
        path: 'form.artifact',
        expected: 'a name that no artifact for these device types has',
        actual: artifact.name,
      },
      { metadata: { conflict: conflictingArtifact.artifact_depends } },
    )
  );
}
