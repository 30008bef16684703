/** A form with one file, as users upload artifacts, and what is written down of it. */
import { gzipSync } from 'node:zlib';
import { FormData } from 'undici';

/** The fields of a form, and its file, which comes last. */
export interface UploadForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly file: { readonly field: string; readonly name: string; readonly bytes: Buffer };
}

/** A form as it is kept, so that a script can send the same file. */
export interface RecordedForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly field: string;
  readonly name: string;
  readonly sizeBytes: number;
  /** The file by gzip and Base64. Only scripts have it; reports leave it out. */
  readonly content?: string;
}

/** The body of a request. */
export function formBody({ fields, file }: UploadForm): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set(file.field, new Blob([new Uint8Array(file.bytes)]), file.name);
  return form;
}

/** The record of a form. */
export function recordedForm({ fields, file }: UploadForm): RecordedForm {
  const { field, name, bytes } = file;
  return { fields, field, name, sizeBytes: bytes.length, content: packed(bytes) };
}

/** Bytes by gzip and Base64, as a script can hold them. */
export function packed(bytes: Buffer): string {
  return gzipSync(bytes, { level: 9 }).toString('base64');
}
