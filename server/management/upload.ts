/** Receives the multipart upload of an artifact: description, size and artifact_id, then the file. */
import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { limits } from '../../fixtures/contract/limits.ts';
import { BodyCutOff } from '../http/body.ts';
import { Refusal, refuse } from '../http/refusal.ts';
import type { FileStore, ReceivedFile } from '../store/files.ts';

export interface Upload {
  readonly file: ReceivedFile;
  readonly description: string | undefined;
  readonly artifactId: string | undefined;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const noFile = refuse.malformed(
  'the request does not contain the artifact file in a part "artifact"',
);

/** The parts, or why they are refused; a refused upload leaves no file. @throws BodyCutOff */
export function receiveUpload(
  request: IncomingMessage,
  files: FileStore,
): Promise<Upload | Refusal> {
  const parser = openParser(request);
  if (parser instanceof Refusal) return Promise.resolve(parser);
  const fields = new Map<string, string>();
  return new Promise((resolve, reject) => {
    let file: BusboyFileStream | undefined;
    let receiving: Promise<Upload | Refusal> | undefined;
    let refusal: Refusal | undefined;
    parser.on('field', (name, value) => {
      // What comes after the file is ignored, as the order of the parts is documented.
      if (!receiving) fields.set(name, value);
    });
    parser.on('file', (name, stream) => {
      if (name !== 'artifact' || receiving) {
        // Its fault is the parser's too, which answers for it.
        stream.on('error', () => stream.destroy());
        stream.resume();
        return;
      }
      file = stream;
      receiving = receiveFile(stream, { files, fields });
      // A disk that fails is known before the body has ended.
      receiving.catch((fault: unknown) => {
        if (!refusal) reject(fault);
      });
    });
    parser.on('finish', () => resolve(receiving ?? noFile));
    parser.on('error', (fault: unknown) => {
      refusal = refuse.malformed(`the multipart body is malformed: ${messageOf(fault)}`);
      request.unpipe(parser);
      request.resume();
      resolve(discarded(receiving, files, refusal));
    });
    request.on('close', () => {
      if (request.complete) return;
      const cutOff = new BodyCutOff('the connection closed within the upload');
      parser.destroy();
      // The parser leaves the file that it was reading open.
      file?.destroy(cutOff);
      void discarded(receiving, files, noFile).then(() => reject(cutOff));
    });
    request.pipe(parser);
  });
}

function openParser(request: IncomingMessage): BusboyInstance | Refusal {
  const contentType = request.headers['content-type'] ?? '';
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      limits: {
        fields: 20,
        fieldNameSize: 100,
        fieldSize: limits.uploadFieldMaxBytes,
        files: 20,
        fileSize: limits.artifactMaxBytes,
        parts: 40,
        headerPairs: 20,
      },
    });
  } catch (fault) {
    return refuse.malformed(`the Content-Type header is malformed: ${messageOf(fault)}`);
  }
}

async function receiveFile(
  stream: BusboyFileStream,
  { files, fields }: { files: FileStore; fields: ReadonlyMap<string, string> },
): Promise<Upload | Refusal> {
  const file = await files.receive(stream);
  const artifactId = fields.get('artifact_id');
  const refusal = stream.truncated
    ? refuse.tooLarge(limits.artifactMaxBytes)
    : artifactId !== undefined && !uuid.test(artifactId)
      ? refuse.malformed('artifact_id: must be a UUID')
      : undefined;
  if (refusal) {
    files.discard(file);
    return refusal;
  }
  return { file, description: fields.get('description'), artifactId: artifactId?.toLowerCase() };
}

/** The refusal, once a file that may have been received has been removed. */
async function discarded(
  receiving: Promise<Upload | Refusal> | undefined,
  files: FileStore,
  refusal: Refusal,
): Promise<Refusal> {
  const received = await receiving?.catch(() => undefined);
  if (received && !(received instanceof Refusal)) files.discard(received.file);
  return refusal;
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
