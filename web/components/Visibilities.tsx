import type { Records } from '../api.ts'
import { VISIBILITIES, type VisibilityWord } from '../levels.ts'
import { Choice } from './Form.tsx'

interface Props {
  settings: Records['WebSettings']
  /** What a new one begins with. */
  usual: VisibilityWord
  /** Of the group it is made in: it may not be wider. */
  within?: VisibilityWord | null | undefined
}

const WORDS = VISIBILITIES.map(([word]) => word)

/** Who may see something new; what the instance keeps from the viewer is not offered. */
export function VisibilityChoice({ settings, usual, within }: Props) {
  const offered = VISIBILITIES.filter(([word]) => !settings.restricted_visibility_levels.includes(word))
  const value = within && WORDS.indexOf(usual) > WORDS.indexOf(within) ? within : usual
  return <Choice name="visibility" label="Visibility" options={offered} value={value} />
}
