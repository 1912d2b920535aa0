/** Titles and descriptions of labels and milestones: titles have no markup. */
import { z } from 'zod'
import { filled, limited } from '../../api/rules.ts'

export const LONGEST_TITLE = 255

/** A tag cannot contain `<`, so the replacement takes linear time. */
export const cleanTitle = (text: string): string => text.replace(/<[a-z/!][^<>]*>/gi, '').trim()

/** After `cleanTitle`. */
export const titleRule = filled(z.string(), LONGEST_TITLE, { codePoints: true })
export const descriptionRule = limited(z.string(), 65_535)
