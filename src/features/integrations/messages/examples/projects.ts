import type { Examples } from './example.ts'
import projects from './projects.json' with { type: 'json' }

/** `UPDATE_EXAMPLES=1` writes the file from the messages that a receiver got. */
export const projectExamples: Examples = projects
