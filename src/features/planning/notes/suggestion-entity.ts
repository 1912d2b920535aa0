import { z } from 'zod'
import { entity } from '../../../api/wire.ts'

/** Replacement lines that a note on a diff suggests. */
export const SuggestionEntity = entity({
  id: z.int(),
  from_line: z.int(),
  to_line: z.int(),
  appliable: z.boolean(),
  applied: z.boolean(),
  from_content: z.string(),
  to_content: z.string(),
}).meta({ id: 'Suggestion' })

export type SuggestionRecord = z.infer<typeof SuggestionEntity>
