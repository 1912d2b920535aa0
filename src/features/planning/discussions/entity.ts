import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { NoteEntity } from '../notes/entity.ts'

export const DiscussionEntity = entity({
  id: z.string(),
  individual_note: z.boolean(),
  notes: z.array(NoteEntity),
}).meta({ id: 'Discussion' })
