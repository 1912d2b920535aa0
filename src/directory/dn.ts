/** Names of entries (RFC 4514) brought into one form, in which two names of the same entry are the same text. */

const HEX_OR_CHARACTER = /((?:\\[0-9a-f]{2})+)|\\(.)/gis

/** Case and superfluous spaces tell nobody apart, and there are several ways to write the same character. */
function normaliseValue(written: string): string {
  const value = written
    .replace(HEX_OR_CHARACTER, (_, hex?: string, character?: string) =>
      hex ? Buffer.from(hex.replaceAll('\\', ''), 'hex').toString() : character!,
    )
    .normalize()
    .toLowerCase()
    .trim()
    .replace(/\s+/g, ' ')
  return value.replace(/[,+"\\<>;=]|^#/g, '\\$&')
}

function normalisePair(pair: string): string {
  const at = pair.indexOf('=')
  if (at < 0) return normaliseValue(pair)
  return `${pair.slice(0, at).trim().toLowerCase()}=${normaliseValue(pair.slice(at + 1))}`
}

const partsBetween = (separator: ',' | '+', text: string): string[] =>
  text.match(separator === ',' ? /(?:\\.|[^\\,])+/gs : /(?:\\.|[^\\+])+/gs) ?? []

/** From the entry itself up to the root. */
const stepsOf = (dn: string): string[] =>
  partsBetween(',', dn).map((step) => partsBetween('+', step).map(normalisePair).toSorted().join('+'))

export const normaliseDn = (dn: string): string => stepsOf(dn).join(',')

/** Whether `dn` is `base` or stands below it. */
export function isWithin(dn: string, base: string): boolean {
  const top = stepsOf(base)
  const steps = stepsOf(dn)
  return steps.length >= top.length && steps.slice(-top.length).join(',') === top.join(',')
}
