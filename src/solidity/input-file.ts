/** A file from the browser: its path within the chosen folder, or its name. */
export interface InputFile {
  readonly path: string;
  readonly text: string;
}
