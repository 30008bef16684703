/**
 * Which bytes of a file a device can have received: the parts that were sent of it, joined. A
 * device may have received less, never more.
 */
import type { ClientExchange } from '../../fixtures/control/client-event.ts';
import type { JudgedExchange } from '../passive/judged-exchange.ts';
import { isAltered } from './exemptions.ts';

/** More parts than this are not kept apart; the file then counts as sent. */
const PARTS_MAX = 64;
/** A device may close the connection before the padding at the end of an archive. */
const PADDING_MAX_BYTES = 10_240;

/**
 * Why what was sent is not the file: a part began elsewhere than requested (`wrong-start`), the
 * file changed between two parts (`changed`), it ended early (`short`), its bytes were altered
 * (`altered`), it went on past its end (`endless`), or the power of the device was cut (`cut`).
 */
export type DownloadDefect = 'wrong-start' | 'changed' | 'short' | 'altered' | 'endless' | 'cut';

/** The parts of one file that were sent. */
export class DownloadProgress {
  /** Length of the file in bytes; undefined if no response stated it. */
  totalBytes: number | undefined;
  /**
   * Number of bytes that were sent since the last response that failed or was cut, repeats
   * included.
   */
  sentBytes = 0;
  /** Number of responses in a row that brought nothing. */
  failures = 0;
  /** Bytes that were written of the last response that was cut; undefined if none was. */
  cutAtBytes: number | undefined;
  /**
   * True once the device has closed the connection of a part that does not belong to the others.
   */
  hasRefused = false;
  /** Everything that was ever wrong with what was sent. */
  readonly flaws = new Set<DownloadDefect>();
  #parts: (readonly [from: number, to: number])[] = [];
  #validator: string | undefined;
  #flaw: DownloadDefect | undefined;

  /**
   * Why the parts that were sent do not make the file; undefined if they do, or nothing was sent.
   */
  get flaw(): DownloadDefect | undefined {
    if (this.isWhole) return undefined;
    return this.#flaw ?? (this.#parts.length > 0 ? 'short' : undefined);
  }

  /** True if every byte was sent once, and nothing was wrong with it. */
  get isWhole(): boolean {
    if (this.#parts.length > PARTS_MAX) return true;
    const [firstPart] = this.#parts;
    if (this.#flaw === 'altered' || this.#flaw === 'endless') return false;
    if (firstPart === undefined || firstPart[0] > 0) return false;
    if (this.#flaw === 'short')
      return firstPart[1] >= (this.totalBytes ?? Number.POSITIVE_INFINITY);
    return firstPart[1] + PADDING_MAX_BYTES >= (this.totalBytes ?? 0);
  }

  /** Number of bytes from the beginning that were sent without a gap. */
  get joinedBytes(): number {
    const [firstPart] = this.#parts;
    return firstPart?.[0] === 0 ? firstPart[1] : 0;
  }

  /**
   * Records the response to a download.
   * @param isNew true if the device cannot have an earlier part of the file
   */
  record(
    { status, response, header }: JudgedDownload,
    event: ClientExchange,
    isNew: boolean,
  ): void {
    if (status !== 200 && status !== 206) {
      // What was stored is of no use after a 416.
      if (status === 416) {
        this.cutAtBytes = undefined;
        this.sentBytes = 0;
      }
      if (status !== 416 && (status < 300 || status >= 400)) this.#fail();
      return;
    }
    const { responseBytes } = event;
    const partial = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers['content-range'] ?? '');
    const from = status === 206 ? Number(partial?.[1] ?? 0) : 0;
    const stated =
      status === 206 ? Number(partial?.[3]) : Number(response.headers['content-length']);
    const requestedFrom = /^bytes=(\d+)-/.exec(header('range') ?? '')?.[1];
    const validator = `${response.headers.etag} ${response.headers['last-modified']} ${stated}`;
    if (this.#validator !== undefined && this.#validator !== validator && from > 0) {
      this.#parts = [];
      this.#flaw = 'changed';
    } else if (status === 206 && Number(requestedFrom) !== from) this.#flaw = 'wrong-start';
    // Who requests again what is missing has not joined the part that began elsewhere.
    else if (this.#flaw === 'wrong-start' && from > 0 && from <= this.joinedBytes)
      this.#flaw = undefined;
    else if (from === 0) {
      // A fresh start replaces what was received before.
      if (status === 200) this.#parts = [];
      this.#flaw = undefined;
      // The server has replaced the file for a device that named its validator.
      if (this.#validator !== undefined && this.#validator !== validator) this.flaws.add('changed');
    }
    this.#validator = validator;
    if (Number.isInteger(stated) && stated > 0) this.totalBytes = stated;
    if (event.alteration === 'end') this.#flaw = 'endless';
    if (event.alteration === 'bytes') this.#flaw = 'altered';
    if (this.#flaw !== 'wrong-start' && this.#flaw !== 'changed')
      this.#join(from, from + responseBytes);
    this.sentBytes += responseBytes;
    const isIncomplete = !event.isDelivered;
    const lacksPart = (isIncomplete && isAltered(event)) || (isNew && from > 0);
    if (lacksPart) this.#flaw ??= 'short';
    // After bytes that are of no use, or the whole file in place of a part, a device starts from the first byte.
    const isMisfit = this.#flaw === 'wrong-start' || this.#flaw === 'changed';
    const isWrong = this.#flaw === 'endless' || this.#flaw === 'altered';
    const isUseless = isMisfit || isWrong || (status === 200 && requestedFrom !== undefined);
    this.cutAtBytes = isIncomplete && !isUseless ? this.joinedBytes : undefined;
    this.hasRefused ||= isIncomplete && isMisfit;
    if (isIncomplete) this.#fail();
    else this.failures = 0;
    if (this.#flaw !== undefined) this.flaws.add(this.#flaw);
  }

  #fail(): void {
    this.failures += 1;
    this.sentBytes = 0;
  }

  /** Records that the power of the device was cut. */
  cut(): void {
    // What was not yet stored is lost with the power.
    this.cutAtBytes = undefined;
    if (this.isWhole || this.#parts.length === 0) return;
    this.#flaw ??= 'cut';
    this.flaws.add(this.#flaw);
  }

  #join(from: number, to: number): void {
    const parts = [...this.#parts, [from, to] as const].toSorted(([a], [b]) => a - b);
    const joinedParts: (readonly [number, number])[] = [];
    for (const part of parts) {
      const lastPart = joinedParts.at(-1);
      if (lastPart === undefined || part[0] > lastPart[1]) joinedParts.push(part);
      else joinedParts[joinedParts.length - 1] = [lastPart[0], Math.max(lastPart[1], part[1])];
    }
    this.#parts = joinedParts;
  }
}

/** The facts of a download that are needed. */
interface JudgedDownload extends Pick<JudgedExchange, 'status' | 'response'> {
  readonly header: (name: string) => string | undefined;
}
