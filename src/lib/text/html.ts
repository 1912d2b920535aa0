/**
 * HTML as a tagged template that escapes every value: `` html`<h1>${title}</h1>` ``. Only values created by this module
 * are inserted unescaped, so escaping cannot be forgotten. Attribute values must be quoted.
 */
export class Html {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }
  toString(): string {
    return this.#text
  }
}

/** Absent values render as nothing, so `${input && html`…`}` works. */
export type Part = Html | string | number | null | undefined | false | readonly Part[]

export function html(literals: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(literals.reduce((text, literal, at) => text + render(parts[at - 1]) + literal))
}

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return ''
  if (part instanceof Html) return part.toString()
  return typeof part === 'object' ? part.map(render).join('') : escape(String(part))
}

/** A text with parts of HTML for its `{slots}`; the rest is escaped. */
export const rich = (text: string, slots: Readonly<Record<string, Part>>): Html =>
  html`${text.split(/\{(\w+)\}/).map((part, at) => (at % 2 === 1 ? slots[part] : part))}`

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escape = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
