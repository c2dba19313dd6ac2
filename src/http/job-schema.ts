import { z } from 'zod';

import { describeDownload } from '../compilers/compiler-file.ts';
import { type CompilerDownload } from '../verification/jobs/awaited-compilers.ts';

/** Submitted sources that are not published. */
export const droppedSourcesSchema = z
  .strictObject({ count: z.int(), paths: z.array(z.string()).describe('The first 20') })
  .meta({ id: 'DroppedSources', description: 'Sources that a compilation does not need' });

/** Description of {@link droppedSourcesSchema} in a job. */
export const DROPPED_SOURCES =
  'The sources compile to the same bytecode without these files, so they are not published; absent if all are needed';

/** Settings that the service changed for a match. */
export const changedSettingsSchema = z
  .strictObject({
    compilerVersion: z.string().optional(),
    optimizer: z.strictObject({ enabled: z.boolean(), runs: z.int().optional() }).optional(),
    evmVersion: z.string().optional(),
    viaIR: z.boolean().optional(),
    optimize: z.union([z.string(), z.boolean()]).optional().describe('For Vyper'),
    metadata: z
      .strictObject({
        bytecodeHash: z.enum(['ipfs', 'bzzr1', 'none']).optional(),
        appendCBOR: z.boolean().optional(),
      })
      .optional()
      .describe('Read from the deployed bytecode'),
  })
  .meta({
    id: 'ChangedSettings',
    description: 'Compiler settings that differ from the submitted ones',
  });

/** Description of {@link changedSettingsSchema} in a job. */
export const CHANGED_SETTINGS =
  'The sources match with these settings instead of the submitted ones; absent if none was changed';

/** Description of the request to try other settings. */
export const TRY_SETTINGS =
  'Whether to read the metadata setting from the bytecode, and to try other common settings if the sources do not match; `changedSettings` of the job names what was changed';

/** Compiler download that a job waits for. */
export const compilerDownloadSchema = z
  .strictObject({
    longVersion: z.string(),
    receivedBytes: z.int(),
    totalBytes: z.int().optional().describe('Absent if the mirror does not report it'),
    message: z.string().describe('As text').meta({ example: '0.8.20: downloading, 8 of 9 MB' }),
  })
  .meta({ id: 'CompilerDownload', description: 'How far the download of a compiler has come' });

/** Description of {@link compilerDownloadSchema} in a job. */
export const COMPILER_DOWNLOAD =
  'Present while the job waits in the queue for its compiler, which is being downloaded';

/** Renders a download for the wire. */
export function renderDownload(
  download: CompilerDownload | undefined,
): z.infer<typeof compilerDownloadSchema> | undefined {
  return download && { ...download, message: describeDownload(download) };
}

/** Description of a submission that was stored as an alternative instead of the match. */
export const STORED_AS_ALTERNATIVE =
  'The match was not replaced, because other sources that compile to the same bytecode are shown; these were stored as an alternative';
