/**
 * The addresses of the server's listeners. The code that opens a listener writes its address here.
 */
export interface Addresses {
  /** URL of the API; empty until the API listens. */
  api: string;
  /** URL of the listener for artifact files, if there is one. */
  storage?: string;
  /** URL of the console on the control listener, if there is one. */
  console?: string;
}
