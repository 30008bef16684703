/** A form with one file, as in artifact uploads, and its record. */
import { gzipSync } from 'node:zlib';
import { FormData } from 'undici';

/** The fields of a form, and its file, which comes last. */
export interface UploadForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly file: { readonly field: string; readonly name: string; readonly bytes: Buffer };
}

/** The record of a form, from which a script can send the file again. */
export interface RecordedForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly field: string;
  readonly name: string;
  readonly sizeBytes: number;
  /** The file, gzip and Base64. Only for scripts; reports omit it. */
  readonly content?: string;
}

/** Returns the request body of a form. */
export function formBody({ fields, file }: UploadForm): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set(file.field, new Blob([new Uint8Array(file.bytes)]), file.name);
  return form;
}

/** Returns the record of a form. */
export function recordedForm({ fields, file }: UploadForm): RecordedForm {
  const { field, name, bytes } = file;
  return {
    ...{ fields, field, name, sizeBytes: bytes.length },
    get content() {
      return gzipBase64(bytes);
    },
  };
}

/** Returns bytes as gzip and Base64, for use in a script. */
export function gzipBase64(bytes: Buffer): string {
  return gzipSync(bytes, { level: 9 }).toString('base64');
}
