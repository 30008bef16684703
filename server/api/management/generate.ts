/**
 * Generates an artifact from a plain file and a form that the user fills in. The artifact has the
 * same provides as those of the usual generator tools: it provides its name as the version under
 * the name of the update module, and clears what the module provided before.
 */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import * as v from 'valibot';
import { generateFormShape } from '../../../fixtures/contract/management/artifacts.ts';
import {
  type StreamedFile,
  streamArtifact,
} from '../../../fixtures/formats/mender-artifact-stream.ts';
import { payloadFileName } from '../../../fixtures/formats/payload-file-name.ts';
import {
  type PlainPayload,
  payloadFiles,
  payloadProblem,
} from '../../../fixtures/formats/update-modules.ts';
import { digestOf } from '../../crypto/digest.ts';
import { describeValue, shapeDetail } from '../../http/problem-detail.ts';
import { type Refusal, refuse } from '../../http/refusal.ts';
import { problemOf } from '../../pipeline/input.ts';
import type { ReceivedFile } from '../../store/files.ts';
import type { ReceivedUpload } from './upload.ts';

export type GenerateForm = v.InferOutput<typeof generateFormShape> & PlainPayload;

/** Reads the form of an upload. Of the uploaded file's name, only a plain file name is accepted. */
export function readGenerateForm({
  fields,
  fileName: called,
}: ReceivedUpload): GenerateForm | Refusal {
  const fieldValues = Object.fromEntries(fields);
  const parseResult = v.safeParse(generateFormShape, fieldValues, { abortEarly: true });
  if (!parseResult.success) {
    const [issue] = parseResult.issues;
    const detail = shapeDetail('form', issue, { schema: generateFormShape });
    // Parts after the file are not read, so the refusal asks for the part before the file.
    if (detail.actual !== 'nothing') return refuse.malformed(problemOf(issue), detail);
    const expected = `${detail.expected}, in a part before that of the file`;
    const missingPart = { ...detail, expected, actual: 'no such part before the file' };
    return refuse.malformed(`${problemOf(issue)}, before the file`, missingPart);
  }
  const { filename = payloadFileName(called), dest_dir: destDir } = parseResult.output.args;
  const form = { ...parseResult.output, fileName: filename, destDir };
  return refuseUninstallable(form) ?? form;
}

/** Refuses an artifact that every device would fail to install. */
function refuseUninstallable(form: GenerateForm): Refusal | undefined {
  const problem = payloadProblem(form);
  if (!problem) return undefined;
  const { member, expected, actual } = problem;
  const location = member === 'type' ? 'type' : `args.${member}`;
  const isMissing = actual === undefined;
  const where = isMissing ? ', in a part args before the file, such as {"dest_dir":"/opt"}' : '';
  return refuse.malformed(`${location}: must be ${expected}${where}`, {
    path: `form.${location}`,
    expected: expected + where,
    actual: isMissing ? 'nothing' : describeValue(actual),
  });
}

/**
 * Returns a stream of the artifact's bytes, without holding the file in memory. With `dest_dir`,
 * the artifact has small extra files that tell the update module where to put the file.
 */
export function artifactStream(form: GenerateForm, file: ReceivedFile, nowMs: number): Readable {
  const { args, type, name } = form;
  const software = `${args.software_filesystem ?? 'rootfs-image'}.${args.software_name ?? type}`;
  const { fileName, lines } = payloadFiles(form);
  const payload: StreamedFile = {
    name: fileName,
    checksum: file.sha256,
    sizeBytes: file.sizeBytes,
    content: bytesOf(file),
  };
  const spec = {
    name,
    deviceTypes: form.device_types_compatible,
    payloadType: type,
    provides: { [`${software}.version`]: args.software_version ?? name },
    clearsProvides: [`${software}.*`],
    modifiedMs: nowMs,
  };
  return Readable.from(streamArtifact(spec, [...lines.map(textFile), payload]));
}

/** Opens the file only when it is read, so that a refused artifact leaves no open file. */
async function* bytesOf({ path }: ReceivedFile): AsyncGenerator<Buffer> {
  yield* createReadStream(path);
}

function textFile({ name, text }: { name: string; text: string }): StreamedFile {
  const bytes = Buffer.from(text);
  return { name, checksum: digestOf(text), sizeBytes: bytes.length, content: [bytes] };
}
