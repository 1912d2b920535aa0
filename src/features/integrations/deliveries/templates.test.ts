import { expect, test } from 'vitest'
import { TemplateFault, fillTemplate } from './templates.ts'

const payload = {
  object_kind: 'issue',
  user: { name: 'A "B"\n</script>\u2028', id: 7, tags: ['x'], gone: null },
  hostile: '","admin":true,"x":"{{user.id}}',
}
const fill = (template: string, most = 1000) => fillTemplate(template, payload, most)

test.each([
  ['{"text":"{{user.name}}"}', { text: payload.user.name }],
  ['{"kind":"{{ object_kind }}","id":{{user.id}}}', { kind: 'issue', id: 7 }],
  ['{"user":{{user}}}', { user: payload.user }],
  ['{"tags":{{user.tags}},"gone":{{user.gone}}}', { tags: ['x'], gone: null }],
  // Missing values, prototypes and arrays give an empty text.
  ['{"a":"{{nobody.there}}"}', { a: '' }],
  ['{"a":"{{constructor.name}}","b":"{{__proto__}}","c":"{{user.toString}}"}', { a: '', b: '', c: '' }],
  ['{"a":"{{user.tags.0}}","b":"{{user.tags.length}}"}', { a: '', b: '' }],
  // An inserted value is not parsed for placeholders, and cannot end its JSON string.
  ['{"a":"{{hostile}}"}', { a: payload.hostile }],
])('%s is filled', (template, expected) => {
  expect(JSON.parse(fill(template))).toEqual(expected)
})

test.each([
  ['{"a":{{user.name}}}', 1000, 'not valid JSON'],
  ['plain', 1000, 'not valid JSON'],
  [`[${'{{user}},'.repeat(400)}1]`, 10_000, 'too large'],
])('%s is refused', (template, most, reason) => {
  expect(() => fill(template, most)).toThrow(TemplateFault)
  expect(() => fill(template, most)).toThrow(reason)
})
