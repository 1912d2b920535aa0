/** Custom bodies of a webhook: `{{a.b}}` is replaced with a value of the payload (reference: custom template). */

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
const LONGEST_PATH = 20

export class TemplateFault extends Error {}

/**
 * Fills the template with values of the payload, up to `most` bytes. Strings are escaped for use inside JSON quotes.
 */
export function fillTemplate(template: string, payload: unknown, most: number): string {
  let size = Buffer.byteLength(template)
  const text = template.replace(PLACEHOLDER, (_, path: string) => {
    const value = shown(valueAt(payload, path.trim().split('.', LONGEST_PATH)))
    size += Buffer.byteLength(value)
    if (size > most) throw new TemplateFault('The filled template is too large')
    return value
  })
  try {
    JSON.parse(text)
  } catch {
    throw new TemplateFault('The filled template is not valid JSON')
  }
  return text
}

/** Reads own properties of objects only, never of a prototype or an array. */
function valueAt(payload: unknown, path: readonly string[]): unknown {
  let value = payload
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return ''
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

const shown = (value: unknown): string => {
  const json = JSON.stringify(value)
  return typeof value === 'string' ? json.slice(1, -1) : json
}
