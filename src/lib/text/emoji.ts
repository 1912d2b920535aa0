/** Emoji by the short names between colons. The table is loaded on first use, because that takes a while. */

export interface Emoji {
  /** The canonical name, which is stored whichever of its names was written. */
  readonly name: string
  readonly text: string
}

/** Names that forges know in addition to the table. */
const MORE_NAMES: Record<string, string> = {
  face_palm: 'facepalm',
  hugging: 'hugs',
  nerd: 'nerd_face',
  slight_frown: 'slightly_frowning_face',
  slight_smile: 'slightly_smiling_face',
  thinking_face: 'thinking',
  thumbdown: 'thumbsdown',
  thumbup: 'thumbsup',
  rolling_eyes: 'roll_eyes',
  upside_down: 'upside_down_face',
}

const LONGEST_NAME = 64

export type FindEmoji = (name: string) => Emoji | null

let table: Promise<ReadonlyMap<string, Emoji>> | null = null

/** Returns a lookup by name, regardless of case and without colons. */
export async function loadEmoji(): Promise<FindEmoji> {
  const known = await (table ??= readTable())
  return (name) => (name.length > LONGEST_NAME ? null : (known.get(name.toLowerCase()) ?? null))
}

export const findEmoji = async (name: string): Promise<Emoji | null> => (await loadEmoji())(name)

async function readTable(): Promise<ReadonlyMap<string, Emoji>> {
  const { gemoji } = await import('gemoji')
  const known = new Map<string, Emoji>()
  for (const { emoji, names } of gemoji) {
    // `+1` and `-1` are aliases of names in words.
    const one = { name: names.find((name) => /^\w/.test(name)) ?? names[0]!, text: emoji }
    for (const name of names) known.set(name, one)
  }
  for (const [name, other] of Object.entries(MORE_NAMES)) if (!known.has(name)) known.set(name, known.get(other)!)
  return known
}
