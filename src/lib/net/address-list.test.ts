import { expect, test } from 'vitest'
import { AddressList, isListable } from './address-list.ts'

test.each([
  ['example.com', ['example.com:80', 'example.com:8080'], ['www.example.com:80', 'example.org:80']],
  ['Example.COM.', ['example.com:80'], []],
  ['bücher.example', ['xn--bcher-kva.example:80'], []],
  ['example.com:8080', ['example.com:8080'], ['example.com:80']],
  ['under_score', ['under_score:80'], []],
  ['10.0.0.1', ['10.0.0.1:80', '::ffff:10.0.0.1:80', '64:ff9b::10.0.0.1:80'], ['10.0.0.2:80', '::10.0.0.1:80']],
  ['10.0.0.1:81', ['10.0.0.1:81'], ['10.0.0.1:80']],
  ['10.0.0.0/8', ['10.0.0.0:1', '10.255.255.255:65535'], ['9.255.255.255:1', '11.0.0.0:1']],
  ['10.0.0.0/8:81', ['10.1.2.3:81'], ['10.1.2.3:80']],
  ['0.0.0.0/0', ['10.1.2.3:80', '255.255.255.255:80'], ['::1:80']],
  ['::1', ['::1:80'], ['::2:80']],
  ['fd00::/8', ['fd12:3456::1:80'], ['fc00::1:80', '10.0.0.1:80']],
  ['[fd00::1]', ['fd00::1:80'], []],
  ['[fd00::1]:81', ['fd00::1:81'], ['fd00::1:80']],
  ['[fd00::/8]:81', ['fd00::2:81'], ['fd00::2:80']],
])('%s', (entry, inside, outside) => {
  const list = new AddressList([entry])
  const has = (at: string) => {
    const [, host = '', port] = /^(.*):(\d+)$/.exec(at) ?? []
    return list.hasHost(host, Number(port)) || list.hasAddress(host, Number(port))
  }
  expect(isListable(entry)).toBe(true)
  expect(inside.filter((at) => !has(at))).toEqual([])
  expect(outside.filter(has)).toEqual([])
})

test('a name is not what it leads to, an address with a zone is nowhere', () => {
  const list = new AddressList(['127.0.0.1', 'fe80::/10'])
  expect(list.hasHost('localhost', 80)).toBe(false)
  expect(list.hasAddress('fe80::1', 80)).toBe(true)
  expect(list.hasAddress('fe80::1%eth0', 80)).toBe(false)
  expect(list.hasAddress('localhost', 80)).toBe(false)
})

const UNREADABLE = String.raw`* *.example.com http://example.com example.com/ example.com/8 a..b -a a@b a\b a?b a#b
  example.com:0 example.com:65536 example.com:x example.com: 10.0.0.0/33 fd00::/129 [10.0.0.1] [::1 ::1] :::1
  1.2.3.4.5 [::1]: fe80::1%eth0 10.0.0.0/-1 10.0.0.0/8/8`

test.each(['', ' ', 'a b', ...UNREADABLE.split(/\s+/)])('%j is no entry', (entry) => {
  expect(isListable(entry)).toBe(false)
  const list = new AddressList([entry])
  expect([list.hasHost(entry, 80), list.hasAddress('10.0.0.1', 80)]).toEqual([false, false])
})
