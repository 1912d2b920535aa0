/** Sentences with elements inside. */
import type { ComponentChildren } from 'preact'

type Slot = ComponentChildren | ((text: string) => ComponentChildren)

const SLOT = /\{(\w+)\}|<(\w+)>([^<]*)<\/\2>/g

/** `{name}` in the text stands for an element, `<name>words</name>` for an element around these words. */
export function rich(text: string, slots: Readonly<Record<string, Slot>>): ComponentChildren[] {
  const parts: ComponentChildren[] = []
  let end = 0
  for (const { 0: whole, 1: name, 2: around, 3: words, index } of text.matchAll(SLOT)) {
    const slot = slots[(name ?? around)!]
    parts.push(text.slice(end, index), typeof slot === 'function' ? slot(words!) : slot)
    end = index + whole.length
  }
  return [...parts, text.slice(end)].filter((part) => part !== '')
}
