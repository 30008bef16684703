/** The addresses of the server's listeners; the code that opens a listener writes its address here. */
export interface Addresses {
  /** URL of the API; empty until it listens. */
  own: string;
  /** URL of the listener for artifact files, where there is one. */
  storage?: string;
  /** URL of the console on the control listener, where there is one. */
  console?: string;
}
