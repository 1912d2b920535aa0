import { expect, test } from 'vitest'
import { cleanName, withoutExtension } from './names.ts'

test('names keep what can stand in an address and lose the rest', () => {
  const names = [
    ['dk.png', 'dk.png'],
    ['my face (1).png', 'my_face__1_.png'],
    ['Grüße-β_2+.txt', 'Grüße-β_2+.txt'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\x.txt', 'x.txt'],
    ['a%2fb', 'a_2fb'],
    ['"><script>.svg', '___script_.svg'],
    ['x](javascript:alert(1))', 'x__javascript_alert_1__'],
    ['evil\u202egpj.exe', 'evil_gpj.exe'],
    ['a\r\nb\0c', 'a__b_c'],
    ['.gitignore', '.gitignore'],
    ['.', '_.'],
    ['..', '_..'],
    ['...', '_...'],
    ['', '_'],
    ['/', '_'],
    ['x/', '_'],
    ['u\u0308.png', 'ü.png'],
  ] as const
  for (const [given, name] of names) expect([given, cleanName(given)]).toEqual([given, name])
})

test('a name is 255 characters at most, and its extension stays', () => {
  expect(cleanName(`${'x'.repeat(300)}.png`)).toBe(`${'x'.repeat(251)}.png`)
  expect(cleanName('𝒳'.repeat(300))).toBe('𝒳'.repeat(255))
  expect(cleanName(`x.${'y'.repeat(300)}`)).toHaveLength(255)
})

test('an extension is what follows the last dot, unless nothing precedes it', () => {
  expect(['a.b.png', '.png', 'a', 'a.'].map(withoutExtension)).toEqual(['a.b', '.png', 'a', 'a.'])
})
