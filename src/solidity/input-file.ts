/** A file as the browser gave it: its path within the folder that was chosen, or its name. */
export interface InputFile {
  readonly path: string;
  readonly text: string;
}
