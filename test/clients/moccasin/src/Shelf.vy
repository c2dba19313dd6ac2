# pragma version 0.4.3

size: public(uint256)


@deploy
def __init__(size: uint256):
    self.size = size
