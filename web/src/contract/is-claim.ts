/** Whether a match of this origin is the claim of another service. */
export const isClaim = (origin: string | null | undefined): boolean => origin === 'imported';
