/** Picture of the browser. Unless the view is read-only, input on it is sent to the browser. */
import { useEffect, useRef } from 'react';
import type { ViewInput } from '#wire/live-view/messages.ts';
import { listen } from './acts.ts';

/** Picture, and the size in CSS pixels of the page in the browser. */
export type Frame = { size: { width: number; height: number }; picture: Blob };

/** Function that draws frames directly, without React. */
export type FrameSink = { draw: (frame: Frame) => Promise<void> };

type ScreenProps = {
  sink: FrameSink;
  isReadOnly: boolean;
  isDimmed: boolean;
  send: (input: ViewInput) => void;
};

export const Screen = ({ sink, isReadOnly, isDimmed, send }: ScreenProps) => {
  const surface = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const shownWidth = useRef(1);

  useEffect(() => {
    const context = canvas.current?.getContext('2d', { alpha: false, desynchronized: true });
    sink.draw = async ({ size, picture }) => {
      const bitmap = await createImageBitmap(picture);
      const element = canvas.current;
      if (
        element !== null &&
        (element.width !== bitmap.width || element.height !== bitmap.height)
      ) {
        element.width = bitmap.width;
        element.height = bitmap.height;
      }
      shownWidth.current = size.width;
      context?.drawImage(bitmap, 0, 0);
      bitmap.close();
    };
  }, [sink]);

  useEffect(() => {
    if (isReadOnly || surface.current === null || canvas.current === null) return undefined;
    const on = { surface: surface.current, canvas: canvas.current };
    return listen(on, send, () => shownWidth.current);
  }, [isReadOnly, send]);

  return (
    <div
      ref={surface}
      className={isDimmed ? 'surface dimmed' : 'surface'}
      role="application"
      aria-label="What the browser shows"
      // A read-only view takes no input, so it is not in the tab order.
      tabIndex={isReadOnly ? -1 : 0}
    >
      <canvas ref={canvas} />
    </div>
  );
};
