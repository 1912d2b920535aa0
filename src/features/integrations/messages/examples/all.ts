/** The examples of every message, one line per file. */
import { ciExamples } from './ci.ts'
import type { Examples } from './example.ts'
import { groupExamples } from './groups.ts'
import { lifecycleExamples } from './lifecycle.ts'
import { projectExamples } from './projects.ts'

export const examples: Examples = { ...projectExamples, ...ciExamples, ...groupExamples, ...lifecycleExamples }
