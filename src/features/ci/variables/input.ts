import { z } from 'zod'
import { blankable, bool, longText, oneOf, text } from '../../../api/wire.ts'
import { VARIABLE_TYPES } from './model.ts'

export const ofAll = {
  variable_type: oneOf(...VARIABLE_TYPES).nullish(),
  protected: bool.nullish(),
  masked: bool.nullish(),
  raw: bool.nullish(),
  description: blankable(text),
}

export const attributes = { ...ofAll, environment_scope: text.nullish() }

/** The value may be a whole file. A smaller limit applies to the stored value. */
export const value = longText

export const filter = { filter: z.object({ environment_scope: text.nullish() }).nullish() }
