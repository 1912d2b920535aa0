import { z } from 'zod'
import { arrayOf, oneOf, text } from '../../../api/wire.ts'
import { LINK_TYPES } from './model.ts'

/** `filepath` is the older name of `direct_asset_path`. */
const more = {
  link_type: oneOf(...LINK_TYPES).nullish(),
  direct_asset_path: text.nullish(),
  filepath: text.nullish(),
}

export const newLink = { name: text, url: text, ...more }
export const changedLink = { name: text.nullish(), url: text.nullish(), ...more }

const MOST_LINKS = 100

export const assets = z.object({ links: arrayOf(z.object(newLink), MOST_LINKS).nullish() }).nullish()

export const pathIn = <
  L extends { direct_asset_path?: string | null | undefined; filepath?: string | null | undefined },
>({
  filepath,
  ...link
}: L) => ({ ...link, direct_asset_path: link.direct_asset_path ?? filepath })
