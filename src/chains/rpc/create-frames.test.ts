import { describe, expect, test } from 'vitest';
import { type Hex } from '../../lib/hex.ts';
import { computeCreate2Address, readProxyDeployment } from './contract-address.ts';
import {
  findCallTracerCreation,
  findFlatCreation,
  flatTrace,
  isCallTraceOf,
  isFlatTraceOf,
} from './create-frames.ts';

const MADE: Hex = `0x${'aa'.repeat(20)}`;
const FACTORY: Hex = `0x${'fa'.repeat(20)}`;
const SENDER: Hex = `0x${'5e'.repeat(20)}`;

const call = (rest: object): object => ({
  type: 'CALL',
  from: SENDER,
  to: FACTORY,
  input: '0x',
  ...rest,
});
const create = (rest: object = {}): object => ({
  type: 'CREATE',
  from: FACTORY,
  to: MADE,
  input: '0x6001',
  ...rest,
});

describe('Creation in a call tree', () => {
  test.each(['CREATE', 'CREATE2'])('is found for %s at any depth', (type) => {
    const root = call({ calls: [call({}), call({ calls: [create({ type })] })] });
    expect(findCallTracerCreation(root, MADE)).toEqual({
      deployer: FACTORY,
      creationCode: Buffer.from('6001', 'hex'),
    });
  });

  test('is ignored if it failed or an enclosing call was reverted', () => {
    for (const root of [
      call({ calls: [create({ error: 'out of gas' })] }),
      call({ calls: [call({ error: 'execution reverted', calls: [create()] })] }),
      call({ error: 'execution reverted', calls: [create()] }),
    ]) {
      expect(findCallTracerCreation(root, MADE)).toBeUndefined();
    }
  });

  test('is ignored for a mere call or another created address', () => {
    const root = call({ calls: [call({ to: MADE }), create({ to: FACTORY })] });
    expect(findCallTracerCreation(root, MADE)).toBeUndefined();
  });

  test('is the last successful one', () => {
    const root = call({
      calls: [
        create({ input: '0x01' }),
        call({ calls: [create({ input: '0x02' })] }),
        create({ input: '0x03', error: 'contract address collision' }),
      ],
    });
    expect(findCallTracerCreation(root, MADE)?.creationCode).toEqual(Buffer.of(2));
  });

  test('includes the deployed bytecode if the tracer provides it', () => {
    const root = call({ calls: [create({ output: '0x33ff' })] });
    expect(findCallTracerCreation(root, MADE)?.runtimeCode).toEqual(Buffer.from('33ff', 'hex'));
  });

  test('is ignored if the contract destroyed itself afterwards', () => {
    const destroy = (from: Hex, rest: object = {}): object => ({
      ...call({ type: 'SELFDESTRUCT', from, to: SENDER }),
      ...rest,
    });
    const after = (frame: object): unknown =>
      findCallTracerCreation(call({ calls: [create(), frame] }), MADE);
    expect(after(destroy(MADE))).toBeUndefined();
    expect(after(call({ to: MADE, calls: [destroy(MADE)] }))).toBeUndefined();
    expect(after(destroy(FACTORY))).toBeDefined();
    expect(after(call({ error: 'execution reverted', calls: [destroy(MADE)] }))).toBeDefined();
  });

  test('is found in a deep stack', () => {
    let root = create();
    for (let depth = 0; depth < 5000; depth += 1) root = call({ calls: [root] });
    expect(findCallTracerCreation(root, MADE)).toBeDefined();
  });

  test('rejects malformed trees', () => {
    for (const root of [
      null,
      [],
      'x',
      { type: 1 },
      create({ input: '0x1' }),
      call({ calls: 'x' }),
    ]) {
      expect(() => findCallTracerCreation(root, MADE)).toThrow();
    }
  });
});

describe('Creation in a flat trace', () => {
  const frame = (traceAddress: number[], rest: object = {}): object => ({
    type: 'call',
    action: {},
    result: {},
    traceAddress,
    ...rest,
  });
  const made = (traceAddress: number[], rest: object = {}): object =>
    frame(traceAddress, {
      type: 'create',
      action: { from: FACTORY, init: '0x6001', value: '0x0' },
      result: { address: MADE, code: '0x' },
      ...rest,
    });
  const find = (frames: object[]): unknown => findFlatCreation(flatTrace.parse(frames), MADE);

  test('is found with deployer and bytecodes', () => {
    expect(find([frame([]), frame([0]), made([0, 0])])).toEqual({
      deployer: FACTORY,
      creationCode: Buffer.from('6001', 'hex'),
      runtimeCode: Buffer.alloc(0),
    });
    expect(find([made([])])).toBeDefined();
  });

  test('is ignored if it or an enclosing call was reverted, unlike its siblings', () => {
    expect(find([frame([]), made([0], { error: 'Reverted', result: null })])).toBeUndefined();
    expect(find([frame([], { error: 'Reverted' }), made([0])])).toBeUndefined();
    expect(
      find([frame([]), frame([1], { error: 'Reverted' }), frame([1, 0]), made([1, 0, 0])]),
    ).toBeUndefined();
    expect(find([frame([]), frame([1], { error: 'Reverted' }), made([10])])).toBeDefined();
  });

  test('is ignored if the contract destroyed itself afterwards', () => {
    const destroy = (at: number[], address: Hex, rest: object = {}): object =>
      frame(at, { type: 'suicide', action: { address }, ...rest });
    expect(find([frame([]), made([0]), destroy([1], MADE)])).toBeUndefined();
    expect(find([frame([]), made([0]), destroy([1], FACTORY)])).toBeDefined();
    expect(find([frame([]), made([0]), destroy([1], MADE, { error: 'Reverted' })])).toBeDefined();
  });

  test('reads each path only a few times among many deep frames below a reverted one', () => {
    let reads = 0;
    const deep = (index: number): number[] =>
      new Proxy([...Array.from({ length: 1000 }, () => 0), index], {
        get(path, name) {
          if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
          return Reflect.get(path, name) as unknown;
        },
      });
    const frames = Array.from({ length: 200 }, (_, index) => frame(deep(index)));
    const failed = frame(deep(0).slice(0, 999), { error: 'Reverted' });
    expect(find([frame([]), failed, ...frames, made(deep(200))])).toBeUndefined();
    expect(reads).toBeLessThan(4 * 202 * 1001);
    expect(() => flatTrace.parse([frame(Array.from({ length: 1026 }, () => 0))])).toThrow();
  });

  test('is absent from an empty trace', () => {
    expect(find([])).toBeUndefined();
    expect(findFlatCreation(null, MADE)).toBeUndefined();
  });
});

describe('CREATE2 address', () => {
  // The examples of EIP-1014.
  test.each([
    [
      '0x0000000000000000000000000000000000000000',
      '00',
      '00',
      '0x4d1a2e2bb4f88f0250f26ffff098b0b30b26bf38',
    ],
    [
      '0xdeadbeef00000000000000000000000000000000',
      '00',
      '00',
      '0xb928f69bb1d91cd65274e3c79d8986362984fda3',
    ],
    [
      '0x0000000000000000000000000000000000000000',
      '00',
      'deadbeef',
      '0x70f2b2914a2a4b783faefb75f459a580616fcb5e',
    ],
    [
      '0x0000000000000000000000000000000000000000',
      '00',
      '',
      '0xe33c0c7f7df4809055c3eba6c09cfe4baf1bd9e0',
    ],
  ])('for %s with salt %s and code %s is %s', (deployer, salt, code, address) => {
    const bytes = Buffer.from(salt.padStart(64, '0'), 'hex');
    expect(computeCreate2Address(deployer as Hex, bytes, Buffer.from(code, 'hex'))).toBe(address);
  });

  test('proves the creation bytecode in a call to a deployment proxy', () => {
    const salt = Buffer.alloc(32, 7);
    const code = Buffer.from('600a600c600039600a6000f3', 'hex');
    const address = computeCreate2Address(FACTORY, salt, code);
    const input = Buffer.concat([salt, code]);
    expect(readProxyDeployment(FACTORY, input, address)).toEqual(code);
    expect(readProxyDeployment(SENDER, input, address)).toBeUndefined();
    expect(
      readProxyDeployment(FACTORY, Buffer.concat([input, Buffer.of(0)]), address),
    ).toBeUndefined();
    expect(readProxyDeployment(FACTORY, Buffer.alloc(31), address)).toBeUndefined();
  });
});

describe('Trace belongs to a transaction', () => {
  const called = { from: SENDER, to: FACTORY };
  const creating = { from: SENDER, to: null };

  test('if the root of the call tree matches it', () => {
    expect(isCallTraceOf(call({}), called)).toBe(true);
    expect(isCallTraceOf(call({ from: FACTORY }), called)).toBe(false);
    expect(isCallTraceOf(call({ to: MADE }), called)).toBe(false);
    expect(isCallTraceOf(create({ from: SENDER, to: FACTORY }), called)).toBe(false);
    expect(isCallTraceOf(create({ from: SENDER }), creating)).toBe(true);
    expect(isCallTraceOf(call({}), creating)).toBe(false);
  });

  test('if the root of the flat trace matches it', () => {
    const of = (frames: unknown, transaction: typeof called | typeof creating): boolean =>
      isFlatTraceOf(flatTrace.parse(frames), transaction);
    const root = { type: 'call', action: called, traceAddress: [] };
    const made = { type: 'create', action: { from: SENDER, init: '0x' }, traceAddress: [] };
    expect(of([], called)).toBe(false);
    expect(of(null, called)).toBe(false);
    expect(of([{ ...root, traceAddress: [0] }], called)).toBe(false);
    expect(of([{ ...root, action: { from: SENDER, to: MADE } }], called)).toBe(false);
    expect(of([root], called)).toBe(true);
    expect(of([made], creating)).toBe(true);
    expect(of([made], called)).toBe(false);
  });
});
