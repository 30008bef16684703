/**
 * Creates RSA keys in dedicated threads. A prime search takes 0.1 seconds or more, and must block
 * neither the event loop nor Node's thread pool, which serves name lookups and file access.
 */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { FleetStopped } from '../network/errors.ts';

/** Supported modulus lengths in bits. */
export type RsaBits = 2048 | 3072;

interface KeyJob {
  readonly bits: RsaBits;
  readonly resolve: (pem: string) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of threads. More threads gain little, and each takes some megabytes. */
const THREADS_MAX = 8;

/**
 * The program of a thread: it receives a modulus length and returns a private key as PKCS#8 in PEM.
 * It is a string so that it runs both from source and from built code.
 */
const program = `
const { parentPort } = require('node:worker_threads');
const { generateKeyPairSync } = require('node:crypto');
const publicKeyEncoding = { type: 'spki', format: 'pem' };
const privateKeyEncoding = { type: 'pkcs8', format: 'pem' };
parentPort.on('message', (modulusLength) => {
  const options = { modulusLength, publicKeyEncoding, privateKeyEncoding };
  parentPort.postMessage(generateKeyPairSync('rsa', options).privateKey);
});`;

/** Creates RSA keys. Threads exist only while keys are being created. The owner must close it. */
export class RsaMakers {
  readonly #threadsMax = Math.min(availableParallelism(), THREADS_MAX);
  readonly #queue: KeyJob[] = [];
  readonly #closing = new AbortController();
  #threads = 0;

  /**
   * Creates a private key, as PKCS#8 in PEM.
   * @throws FleetStopped when `close` is called first
   */
  make(bits: RsaBits): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#closing.signal.aborted) return reject(new FleetStopped());
      this.#queue.push({ bits, resolve, reject });
      if (this.#threads < this.#threadsMax) void this.#work();
    });
  }

  /** Ends all threads; calls that are pending fail with FleetStopped. */
  close(): void {
    this.#closing.abort();
    for (const { reject } of this.#queue.splice(0)) reject(new FleetStopped());
  }

  async #work(): Promise<void> {
    this.#threads++;
    const worker = new Worker(program, { eval: true });
    const { signal } = this.#closing;
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      try {
        worker.postMessage(job.bits);
        const [pem] = await once(worker, 'message', { signal });
        job.resolve(String(pem));
      } catch (error) {
        job.reject(signal.aborted ? new FleetStopped() : error);
      }
    }
    this.#threads--;
    await worker.terminate();
  }
}
