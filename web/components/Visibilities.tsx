import type { Records } from '../api.ts'
import { VISIBILITIES, type VisibilityWord } from '../levels.ts'
import { Choice } from './Form.tsx'
import * as t from '../texts/common.ts'

interface Props {
  settings: Records['WebSettings']
  /** The default of a new record. */
  usual: VisibilityWord
  /** The visibility of its parent group, which is the maximum. */
  within?: VisibilityWord | null | undefined
}

const WORDS = VISIBILITIES.map(([word]) => word)

/** The visibility of a new record; levels that the instance restricts are not offered. */
export function VisibilityChoice({ settings, usual, within }: Props) {
  const offered = VISIBILITIES.filter(([word]) => !settings.restricted_visibility_levels.includes(word))
  const value = within && WORDS.indexOf(usual) > WORDS.indexOf(within) ? within : usual
  return <Choice name="visibility" label={t.visibility} options={offered} value={value} />
}
